/**
 * The write lease of a push. receive-pack brings files and Git index to the new commit before it compares the ref, so
 * one commit of ours in between would leave both ahead for good. So the writer's queue stands still from the hook's
 * question until the push has ended; requests wait in it meanwhile, as many as it takes. Invariant: a lease ends.
 *
 * @see spec: storage, section 6
 */
import { NotesError } from "../../domain/errors.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Warn } from "../../lib/bus.ts";
import type { Clock } from "../../lib/clock.ts";
import { watchProcess } from "../../lib/process-alive.ts";
import type { NoteStore, RepoState } from "../../store/note-store.ts";
import { isAtHome } from "../../store/refs/at-home.ts";
import { matchWords } from "../reconcile/held-edits.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";
import type { Hold } from "../reconcile/settling.ts";
import type { Writer } from "../writing/writer.ts";
import type { HeldBack, LeaseAnswer, PushSide, PushWish } from "./push-side.ts";

const LONGEST_MS = 60_000;
/** A stopping daemon has ten seconds for everything. */
const LAST_MS = 2_000;
const LOOK_MS = 50;
/** A command that holds a lock for longer than others do may still be about to end. */
const LOCK_WAIT_MS = 2_000;
/** A person who keeps saving is asked to stop. */
const MAX_TRIES = 3;

interface LeaseDeps {
  readonly store: Pick<NoteStore, "tip" | "state" | "staged" | "foreignGit" | "finishPush">;
  readonly index: Pick<NoteIndex, "get">;
  readonly writer: Pick<Writer, "alone">;
  readonly reconciler: Pick<Reconciler, "hint" | "settle" | "unsettled" | "held" | "heldEdits">;
  /** Resolves when every file was looked at once. */
  readonly ready: () => Promise<unknown>;
  /** Fold what the push brought and tell of it. Called inside the writer's turn. */
  readonly catchUp: () => Promise<unknown>;
  /** Let files, index and state follow; called after the writer's turn. */
  readonly headMoved: () => Promise<void>;
  readonly clock: Clock;
  readonly warn: Warn;
  /** For tests. */
  readonly watch?: typeof watchProcess;
}

interface Pusher {
  /** Whether its hook waits for the answer, or has it and the push goes on; true also where nobody can tell. */
  waits(): boolean;
}

type Ending = "told" | "gone" | "late" | "stopped";

interface Held {
  readonly pid: number;
  end(why: Ending): void;
  readonly over: Promise<void>;
}

/** Make the push side of one notebook. */
export function createPushLease(deps: LeaseDeps): PushSide {
  const { store, reconciler, clock } = deps;
  let held: Held | null = null;
  let closed = false;

  async function take(wish: PushWish, pusher: Pusher): Promise<LeaseAnswer | { kind: "unsettled" }> {
    await reconciler.hint(wish.dirty);
    await reconciler.settle(reconciler.unsettled().filter((path) => reconciler.held(path) === null));
    return new Promise((resolve, reject) => {
      const turn = deps.writer.alone(async () => {
        if (closed) return resolve(STOPPING);
        const refusal = await whyNot(deps, wish);
        if (refusal !== null) return resolve(refusal);
        // Nobody waits for the answer any more, so nobody would end the lease.
        if (!pusher.waits()) return resolve(GIVEN_UP);
        await hold(wish, pusher, () => resolve({ kind: "granted" }));
        // In a turn of its own: it waits for this one to end.
        void deps.headMoved().catch(reject);
      });
      turn.catch(reject);
    });
  }

  /** Wait a little for somebody else's lock, while the writer goes on: Git takes no push beside one. */
  async function unlocked(): Promise<void> {
    for (let waitedMs = 0; waitedMs < LOCK_WAIT_MS; waitedMs += LOOK_MS) {
      if ((await store.state()).state !== "locked") return;
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    }
  }

  /** Keep the writer's turn until the push has ended. */
  async function hold({ pid, from, to }: PushWish, pusher: Pusher, granted: () => void): Promise<void> {
    let over = () => {};
    const lasting = new Promise<Ending>((resolve) => {
      held = { pid, end: resolve, over: new Promise((done) => (over = done)) };
    });
    const cancelLate = clock.after(LONGEST_MS, () => held?.end("late"));
    let cancelLook = () => {};
    const look = () => {
      if (!pusher.waits()) held?.end("gone");
      else cancelLook = clock.after(LOOK_MS, look);
    };
    look();
    granted();
    const ending = await lasting;
    cancelLate();
    cancelLook();
    try {
      if (ending === "late")
        deps.warn("a push kept the writer for a minute", { pid, outcome: "the writer goes on without it" });
      // Refused by another hook, or killed, maybe with files and index ahead of the branch.
      if (ending === "gone" && (await store.tip()) === from) await store.finishPush(from, to);
      await deps.catchUp();
    } catch (error) {
      deps.warn("what a push brought could not be followed", {
        why: error instanceof Error ? error.message : String(error),
        outcome: "it is followed with the next change",
      });
    } finally {
      held = null;
      over();
    }
  }

  return {
    async lease(wish, gone) {
      store.foreignGit();
      // From here on, for while the files are looked at it may be killed, and another get its number.
      const lives = (deps.watch ?? watchProcess)(wish.pid, wish.space);
      const pusher: Pusher = { waits: () => !gone.aborted && lives?.() !== false };
      try {
        await deps.ready();
        await unlocked();
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const answer = await take(wish, pusher);
          if (answer.kind !== "unsettled") return answer;
        }
      } catch (error) {
        // A merge under way, a full disk, the stop: the pusher reads why.
        if (error instanceof NotesError) return { kind: "busy", why: error.message };
        throw error;
      }
      return {
        kind: "busy",
        why: "Notes of the working tree keep being saved, and Git takes no push over them.",
      };
    },
    async ended(pid) {
      store.foreignGit();
      if (held?.pid !== pid) return deps.headMoved();
      const { end, over } = held;
      end("told");
      await over;
    },
    personAtGit: () => store.foreignGit(),
    close() {
      closed = true;
      clock.after(LAST_MS, () => held?.end("stopped"));
    },
  };
}

const GIVEN_UP = { kind: "busy", why: "The push was given up." } as const;
const STOPPING = { kind: "busy", why: "The daemon is stopping." } as const;

/** Why a push can't begin, asked in the writer's turn; null: it can. */
async function whyNot(
  { store, index, reconciler }: LeaseDeps,
  { from, ids }: PushWish,
): Promise<LeaseAnswer | { kind: "unsettled" } | null> {
  const state = await store.state();
  const why = busyWith(state);
  if (why !== null) return { kind: "busy", why };
  const tip = await store.tip();
  if (tip !== from) return { kind: "behind", tip };
  const taken = ids.flatMap(({ id, path }) => {
    const at = index.get(id);
    // What resolves by another name than its id is free.
    return at === null || at.note_id !== id || at.path === path ? [] : [{ id, path, at: at.path }];
  });
  if (taken.length > 0) return { kind: "taken", ids: taken };
  // The files are another branch's: Git leaves them alone.
  return state.state === "elsewhere" ? null : unsettled(store, reconciler);
}

/** What Git would stumble over, as a sentence; null: a push may come. */
function busyWith(state: RepoState): string | null {
  if (state.state === "unsupported") return state.why;
  if (state.state === "locked")
    return `Another Git command holds ${state.path} in the repository that you push to; when none runs there, remove that file.`;
  if (isAtHome(state) || state.state === "elsewhere") return null;
  return `A ${state.state} is under way in the repository that you push to.`;
}

async function unsettled(
  store: LeaseDeps["store"],
  reconciler: LeaseDeps["reconciler"],
): Promise<LeaseAnswer | { kind: "unsettled" } | null> {
  const files = new Map<string, HeldBack>();
  const add = (path: string, hold: Hold) => files.set(path, { path, why: WHY[hold] });
  for (const path of await store.staged()) add(path, "staged");
  for (const path of reconciler.unsettled()) {
    const hold = reconciler.held(path);
    if (hold === null) return { kind: "unsettled" };
    add(path, hold);
  }
  for (const { path, matches } of reconciler.heldEdits()) {
    const why = `${WHY.secret}: ${matchWords(matches)}`;
    if (files.has(path)) files.set(path, { path, why, secret: true });
  }
  return files.size === 0 ? null : { kind: "held", files: [...files.values()] };
}

const WHY: Readonly<Record<Hold, string>> = {
  staged: "is staged there and waits for a git commit",
  manual: "was edited there and waits for notesd commit or git commit",
  conflict: "was edited there and does not merge with the note: an update with both, or notesd commit",
  secret: "was edited there and is not committed, for it holds a secret",
};
