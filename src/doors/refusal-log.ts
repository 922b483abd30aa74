/**
 * The log of who was refused what: one line each, of a principal by name and of strangers by their address. It holds
 * no token, no parameter and no text. Invariant: whoever is refused for ever fills neither the disk nor the memory; what
 * was not written is counted and told.
 */
import type { Refusal } from "../actions/gate/refusal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { type TokenBucket, tokenBucket } from "../lib/token-bucket.ts";

export interface RefusalLog {
  /** Somebody known may not, or not so often. */
  refused(refusal: Refusal): void;
  /** Nobody known: no or a wrong token, a foreign Host or Origin. */
  turnedAway(stranger: {
    readonly address: string | undefined;
    readonly status: number;
    readonly reason: string;
  }): void;
}

/** Lines at once, and then a second. */
const KNOWN = { burst: 100, perSecond: 1 };
const STRANGER = { burst: 10, perSecond: 0.1 };
const MOST_KEPT = 1_000;
const TELL_AFTER_MS = 60_000;

type Fields = Parameters<Log["info"]>[1];

/** Make the log of one daemon's refusals. */
export function createRefusalLog(log: Log, clock: Clock): RefusalLog {
  const kept = new Map<string, { readonly bucket: TokenBucket; unsaid: number }>();

  function say(key: string, rate: typeof KNOWN, fields: Fields): void {
    if (!kept.has(key) && kept.size >= MOST_KEPT) {
      for (const [other, { bucket, unsaid }] of kept) if (unsaid === 0 && bucket.isFull) kept.delete(other);
    }
    // Too many to tell apart: they share one.
    const name = kept.has(key) || kept.size < MOST_KEPT ? key : "";
    const one = kept.get(name) ?? { bucket: tokenBucket(clock, rate.perSecond, rate.burst), unsaid: 0 };
    kept.set(name, one);
    if (one.bucket.take() === 0) {
      log.info("refused", fields);
      return;
    }
    one.unsaid += 1;
    if (one.unsaid > 1) return;
    clock.after(TELL_AFTER_MS, () => {
      log.info("refused more often than is told", { ...fields, times: one.unsaid });
      one.unsaid = 0;
    });
  }

  return {
    refused: ({ principal, action, code, reason }) =>
      say(principal, KNOWN, { principal, action, code, ...(reason === null ? {} : { reason }) }),
    turnedAway: ({ address = "", status, reason }) =>
      say(`@${address}`, STRANGER, { address, status, reason }),
  };
}
