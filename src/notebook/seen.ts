/**
 * When each caller was here and where the branch's head was then, for `last`: the head at the end of its previous
 * session. A session ends with 30 idle minutes or when a new one is named. Kept in `<gitdir>/notesd/seen.json`.
 * Invariant: in doubt `last` is too early, never too late: a caller may read a change twice but misses none.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { principalKey } from "../domain/identity.ts";
import { type CommitId, CommitIdText } from "../domain/note.ts";
import type { Caller } from "../domain/principal.ts";
import type { Warn } from "../lib/bus.ts";
import type { Clock } from "../lib/clock.ts";
import { orAbsent, writeDurably } from "../lib/durable-file.ts";

const IDLE_MS = 30 * 60_000;
const WRITE_DELAY_MS = 5_000;
const MAX_NAMES = 32;

const Head = CommitIdText.nullable();

const Visit = z.object({
  /** At the caller's last request. */
  head: Head,
  lastMs: z.number(),
  /** At the end of the previous session; null: there was none, so everything is new. */
  previous: Head,
  /** Recent sessions, the current one last: hashes of their names, for a name may be what no file shall hold. */
  names: z.array(z.string()),
  /** While requests come without a session's name: where the head was before the first of them. */
  unnamedSince: Head.optional(),
});
type Visit = z.infer<typeof Visit>;

const SeenFile = z.object({ format: z.literal(1), callers: z.record(z.string(), Visit) });

export interface Seen {
  /** Note a request of this caller; call it again when a write moved the head. Costs no disk. */
  note(caller: Caller, head: CommitId | null): void;
  /** The head at the end of the caller's previous session; null when it was never here. */
  last(caller: Caller): CommitId | null;
  /** Write what is only in memory. */
  flush(): Promise<void>;
}

interface SeenOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly warn: Warn;
}

/** Read who was here. A file that can't be read is told of and counts as none. */
export function openSeen({ file, clock, warn }: SeenOptions): Seen {
  const visits = new Map<string, Visit>(Object.entries(read(file, warn)));
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = () => {
    cancel?.();
    cancel = null;
    const text = JSON.stringify({ format: 1, callers: Object.fromEntries(visits) });
    writing = writing
      .then(() => mkdir(dirname(file), { recursive: true }))
      .then(() => writeDurably(file, text, { mode: 0o600 }))
      .catch((error: unknown) => {
        warn("who was here could not be written", {
          trigger: file,
          why: error instanceof Error ? error.message : String(error),
          outcome: "after a restart `last` may mean an earlier head; written again at the next request",
        });
      });
    return writing;
  };

  return {
    note(caller, head) {
      const key = principalKey(caller.principal);
      visits.set(key, next(visits.get(key), shortOf(caller.session), head, clock.now()));
      cancel ??= clock.after(WRITE_DELAY_MS, () => void write());
    },
    last(caller) {
      const visit = visits.get(principalKey(caller.principal));
      return visit ? previousOf(visit, shortOf(caller.session), clock.now()) : null;
    },
    flush: () => (cancel ? write() : writing),
  };
}

/** Equal for equal names, which is all that is asked of it. */
const shortOf = (session: string | null): string | null =>
  session === null ? null : createHash("sha256").update(session).digest("hex").slice(0, 16);

/** Where the previous session of this caller ended, if it asked now. */
function previousOf(visit: Visit, session: string | null, nowMs: number): CommitId | null {
  if (nowMs - visit.lastMs > IDLE_MS) return visit.head;
  if (session === null || visit.names.includes(session)) return visit.previous;
  return visit.unnamedSince === undefined ? visit.head : visit.unnamedSince;
}

function next(visit: Visit | undefined, session: string | null, head: CommitId | null, nowMs: number): Visit {
  const names = visit?.names ?? [];
  const idle = visit === undefined || nowMs - visit.lastMs > IDLE_MS;
  const before = visit?.head ?? null;
  return {
    head,
    lastMs: nowMs,
    previous: visit ? previousOf(visit, session, nowMs) : null,
    names:
      session === null ? names : [...names.filter((name) => name !== session), session].slice(-MAX_NAMES),
    ...(session === null
      ? { unnamedSince: idle || visit.unnamedSince === undefined ? before : visit.unnamedSince }
      : {}),
  };
}

function read(file: string, warn: Warn): Record<string, Visit> {
  const text = orAbsent(() => readFileSync(file, "utf8"));
  if (text === null) return {};
  try {
    return SeenFile.parse(JSON.parse(text)).callers;
  } catch (error) {
    warn("who was here can't be read", {
      trigger: file,
      why: error instanceof Error ? error.message : String(error),
      outcome: "`last` means the beginning for every caller until its next session",
    });
    return {};
  }
}
