/**
 * When notes that have expired are removed: a little after the next one does, never while a person's Git has the
 * branch in hand, and again later where it could not be. That they are hidden at once needs none of this.
 */
import { NotesError } from "../../domain/errors.ts";
import { isExpired } from "../../domain/note.ts";
import type { NoteChange } from "../../index/note-index.ts";
import type { RepoState } from "../../store/note-store.ts";
import type { BranchMove, Feed } from "../feed/feed.ts";
import type { Housekeeping } from "../housekeeping.ts";
import type { NotebookOptions } from "../notebook-options.ts";
import type { FirstLook } from "../reconcile/first-look.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";
import type { Writer } from "../writing/writer.ts";
import { sweep, type Waiting } from "./sweep.ts";
import { isOurExpiry, JITTER_MS, OTHERS_WAIT_MS } from "./whose-expiry.ts";

export interface Expiry {
  /** Sweep from now on. Nothing waits for it. */
  start(): void;
  /** The branch moved: a note may expire sooner than what was waited for. @cost a look at each change */
  moved(move: BranchMove, changes: readonly NoteChange[]): void;
  /** Whether a note has expired and lies there still. */
  hides(noteId: string): boolean;
  /** A remote is set. @param fetchedMs when it was last taken in, ms; what another daemon shall remove waits for that */
  setRemote(fetchedMs: () => number): void;
  /** No further sweep. Resolves when the one that runs has ended. */
  close(): Promise<void>;
}

interface Around {
  readonly feed: Pick<Feed, "madeHere">;
  readonly reconciler: Pick<Reconciler, "hint" | "dirty">;
  readonly writer: Pick<Writer, "write">;
  /** A person may have edited an expired note while no daemon ran. */
  readonly firstLook: Pick<FirstLook, "wait">;
  /** Hears that notes are hidden which a derived file still shows. */
  readonly housekeeping: Pick<Housekeeping, "touched">;
}

/** Notes that expire together are removed together. */
const GATHER_MS = 1_000;
/** Two sweeps are at least so far apart. */
const APART_MS = 5_000;
const AGAIN_MS = 15_000;
/** No timer is set for longer: a machine that slept, or whose clock was set, is noticed by then. */
const LONGEST_MS = 600_000;

/** Writes are accepted in these. @see spec: storage, section 3 */
const FREE: ReadonlySet<RepoState["state"]> = new Set(["ok", "elsewhere", "diverged"]);

type Options = Pick<NotebookOptions, "store" | "index" | "clock" | "randomBytes" | "warn">;

/** Make the expiry of one notebook. Nothing runs before `start`. */
export function createExpiry({ store, index, clock, randomBytes, warn }: Options, around: Around): Expiry {
  const { feed, reconciler, writer, firstLook, housekeeping } = around;
  const waiting: Waiting = new Map();
  const [random = 0] = randomBytes(1);
  const othersWaitMs = OTHERS_WAIT_MS + Math.floor((random / 256) * JITTER_MS);
  let fetchedMs = () => Number.POSITIVE_INFINITY;
  let state: "idle" | "open" | "closed" = "idle";
  let running: Promise<void> | null = null;
  let nextMs = Number.POSITIVE_INFINITY;
  let endedMs = Number.NEGATIVE_INFINITY;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let cancel = () => {};
  let endRest = () => {};

  /** @param dueMs when a note is due */
  function plan(dueMs: number): void {
    if (state !== "open") return;
    nextMs = Math.min(nextMs, Math.max(dueMs + GATHER_MS, endedMs + APART_MS));
    if (running !== null || nextMs === Number.POSITIVE_INFINITY) return;
    cancel();
    cancel = clock.after(Math.min(LONGEST_MS, Math.max(0, nextMs - clock.now())), wake);
  }

  function wake(): void {
    if (state !== "open" || running !== null) return;
    if (clock.now() < nextMs) {
      plan(nextMs);
      return;
    }
    nextMs = Number.POSITIVE_INFINITY;
    running = run().then((dueMs) => {
      running = null;
      endedMs = clock.now();
      plan(dueMs);
    });
  }

  /** @returns when a note is due again */
  async function run(): Promise<number> {
    const nowMs = clock.now();
    if (index.nextExpiryMs(lookedMs) <= nowMs) housekeeping.touched();
    lookedMs = nowMs;
    try {
      await firstLook.wait();
      if (!FREE.has((await store.state()).state)) return clock.now() + AGAIN_MS;
      const dueMs = await sweep(
        {
          index,
          reconciler,
          clock,
          write: writer.write,
          isOurs: (file) => isOurExpiry({ store, index, madeHere: (commit) => feed.madeHere(commit) }, file),
          othersWaitMs,
          fetchedMs: () => fetchedMs(),
          rest,
        },
        waiting,
      );
      isFailing = false;
      return dueMs;
    } catch (error) {
      // Not failures: the repository is a person's for a while, or the daemon stops.
      const isBusy =
        error instanceof NotesError && (error.code === "REPO_BUSY" || error.code === "OVERLOADED");
      if (!isBusy && !isFailing) {
        warn("notes that have expired could not be removed", {
          why: error instanceof Error ? error.message : String(error),
          outcome: "nobody sees them; it is tried again",
        });
        isFailing = true;
      }
      return clock.now() + AGAIN_MS;
    }
  }

  async function rest(ms: number): Promise<boolean> {
    if (state !== "open") return false;
    await new Promise<void>((resolve) => {
      endRest = resolve;
      cancel = clock.after(ms, resolve);
    });
    // Closed meanwhile, which the compiler can't know.
    return (state as string) === "open";
  }

  return {
    start() {
      state = "open";
      // What expired while no daemon ran is due already.
      plan(index.nextExpiryMs(Number.NEGATIVE_INFINITY));
    },
    moved(move, changes) {
      let firstMs = Number.POSITIVE_INFINITY;
      for (const { after } of changes) {
        const expiresAt = after?.expires_at ?? null;
        if (expiresAt !== null) firstMs = Math.min(firstMs, Date.parse(expiresAt));
      }
      // After a rebuild nobody tells what changed.
      if (move.kind === "other" && changes.length === 0)
        firstMs = index.nextExpiryMs(Number.NEGATIVE_INFINITY);
      plan(firstMs);
    },
    hides(noteId) {
      const note = index.get(noteId);
      return note !== null && isExpired(note, clock.now());
    },
    setRemote(given) {
      fetchedMs = given;
    },
    async close() {
      state = "closed";
      cancel();
      endRest();
      await running;
    },
  };
}
