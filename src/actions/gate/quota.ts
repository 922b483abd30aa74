/**
 * How often each principal may ask, and how much at once: one agent that runs wild leaves the others their turn.
 * Requests are counted as they come to be carried out, whatever door they came through. Invariant: what is kept of a
 * principal goes when it was quiet for as long as its burst takes to fill.
 */
import { NotesError } from "../../domain/errors.ts";
import { principalKey } from "../../domain/identity.ts";
import type { Principal } from "../../domain/principal.ts";
import type { Clock } from "../../lib/clock.ts";
import { type TokenBucket, tokenBucket } from "../../lib/token-bucket.ts";
import type { Effects } from "../action.ts";

/** 0: no limit. */
export interface QuotaLimits {
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  /** Requests being carried out at once. */
  readonly inFlight: number;
}

export interface Quota {
  /**
   * Count one request in.
   * @returns call it once when the request has ended
   * @throws NotesError OVERLOADED with `data.retry_after_ms` and `data.limit`, the setting that says so
   */
  enter(principal: Principal, effects: Effects): () => void;
}

interface Account {
  readonly reads: TokenBucket | null;
  readonly writes: TokenBucket | null;
  inFlight: number;
}

/** Whoever sends at the rate that is allowed may save up so much of it. */
const BURST_S = 2;
/** Principals kept before the quiet ones are let go. */
const MOST_ACCOUNTS = 1_000;
/** Others' requests end in the meantime. */
const IN_FLIGHT_RETRY_MS = 100;

/** Make the quota of one daemon. */
export function createQuota(limits: QuotaLimits, clock: Pick<Clock, "now">): Quota {
  const accounts = new Map<string, Account>();
  const bucket = (perSecond: number) =>
    perSecond > 0 ? tokenBucket(clock, perSecond, perSecond * BURST_S) : null;

  function accountOf(principal: Principal): Account {
    const key = principalKey(principal);
    const known = accounts.get(key);
    if (known) return known;
    if (accounts.size >= MOST_ACCOUNTS) forgetQuiet(accounts);
    const { readsPerSecond, writesPerSecond } = limits;
    const made: Account = { reads: bucket(readsPerSecond), writes: bucket(writesPerSecond), inFlight: 0 };
    accounts.set(key, made);
    return made;
  }

  return {
    enter(principal, effects) {
      const account = accountOf(principal);
      if (limits.inFlight > 0 && account.inFlight >= limits.inFlight) {
        throw overloaded(
          `${limits.inFlight} requests of this token's owner are being carried out already`,
          IN_FLIGHT_RETRY_MS,
          "limits.in_flight",
        );
      }
      const writes = effects === "write" || effects === "destructive";
      const waitMs = (writes ? account.writes : account.reads)?.take() ?? 0;
      if (waitMs > 0) {
        const [perSecond, setting] = writes
          ? [limits.writesPerSecond, "limits.writes_per_second"]
          : [limits.readsPerSecond, "limits.reads_per_second"];
        throw overloaded(
          `this token's owner sends more than ${perSecond} ${writes ? "writes" : "reads"} a second`,
          waitMs,
          setting,
        );
      }
      account.inFlight += 1;
      return () => {
        account.inFlight -= 1;
      };
    },
  };
}

function forgetQuiet(accounts: Map<string, Account>): void {
  for (const [key, { reads, writes, inFlight }] of accounts) {
    if (inFlight === 0 && (reads?.isFull ?? true) && (writes?.isFull ?? true)) accounts.delete(key);
  }
}

const overloaded = (what: string, retryAfterMs: number, limit: string) =>
  new NotesError("OVERLOADED", `Too much at once: ${what}. Nothing was done; wait, then send it again.`, {
    reason: "rate",
    retry_after_ms: retryAfterMs,
    limit,
  });
