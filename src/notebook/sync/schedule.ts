/**
 * When a sync runs: asked for, after some time, and soon after the branch moved here. One at a time; a remote that
 * fails is asked ever more rarely. Nothing of what was accepted waits for it.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { backoffMs } from "../../lib/backoff.ts";
import type { Warn } from "../../lib/bus.ts";
import { inTurn } from "../../lib/in-turn.ts";
import { type SyncDeps, syncOnce } from "./sync.ts";
import type { Sync, SyncResult, SyncWish } from "./sync-result.ts";

export interface SyncSettings {
  /** A name of Git's config, a URL or a folder; null: only what a person names. */
  readonly remote: string | null;
  /** Between two syncs, ms; null: none by itself. */
  readonly intervalMs: number | null;
  /** So long after the branch moved here, ms; null: it does not count. */
  readonly onChangeMs: number | null;
}

export interface ScheduledSync extends Sync {
  /** Sync now and from then on. */
  start(): void;
  /** When the last sync began that took in what the set remote has, ms; -Infinity: none did, Infinity: none is set. */
  fetchedMs(): number;
  /** No further one. Resolves when the one that runs has ended. */
  stop(): Promise<void>;
}

/** A text that can be nothing but a name. */
const isName = (remote: string) => /^[\w-][\w.-]*$/.test(remote);
const AGAIN = { firstMs: 5_000, mostMs: 15 * 60_000 };

export function scheduleSync(
  deps: SyncDeps & { readonly warn: Warn },
  settings: SyncSettings,
): ScheduledSync {
  const { clock, store } = deps;
  const last = new Map<string, SyncResult>();
  const cancels = new Set<() => void>();
  let failures = 0;
  let stopped = false;
  let seen: CommitId | null = null;
  let fetchedMs = settings.remote === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  let running: Promise<unknown> = Promise.resolve();

  /** Who may sync is not always who owns the files here: a place that nobody set up is not taken from a caller. */
  const named = async (remote: string | undefined): Promise<string> => {
    const wanted = remote ?? settings.remote;
    if (wanted !== null) {
      // A name that is none has an error of its own.
      if (wanted === settings.remote || isName(wanted) || (await deps.remotes.isNamed(wanted))) return wanted;
      const message = "is no name of a remote; add it once with git remote add NAME URL, and give that NAME";
      throw new NotesError("INVALID_PARAMS", `The remote ${message}.`, {
        issues: [{ path: "remote", message }],
      });
    }
    throw new NotesError(
      "NOT_CONFIGURED",
      "No remote is set. Name one with --remote, or set it: notesd config set sync.remote origin",
      { setting: "sync.remote" },
    );
  };

  const runInTurn = inTurn(async (wish: SyncWish): Promise<SyncResult> => {
    if (stopped)
      throw new NotesError("OVERLOADED", "The daemon is stopping; sync again after a start.", {
        retry_after_ms: 1_000,
      });
    const beganMs = clock.now();
    const result = await syncOnce(
      deps,
      wish,
      settings.remote === null ? "none is set" : wish.remote === settings.remote ? "set" : "other",
    );
    const before = last.get(wish.remote);
    last.set(wish.remote, result);
    // What was written while it ran is not there yet.
    if (wish.remote === settings.remote) seen = result.ahead === 0 ? result.head : null;
    // A push that is refused comes after it.
    const isTakenIn = result.state === "ok" || result.state === "refused";
    if (wish.remote === settings.remote && isTakenIn) fetchedMs = beganMs;
    const isNews =
      result.state !== before?.state || (result.state === "ok" && result.message !== before.message);
    if (result.message !== null && isNews)
      deps.warn("the remote is not level with this repository", {
        remote: result.remote,
        state: result.state,
        why: result.message ?? "",
      });
    return result;
  });

  function track<T>(work: Promise<T>): Promise<T> {
    running = Promise.allSettled([running, work]);
    return work;
  }

  function later(ms: number, work: () => void): void {
    if (stopped) return;
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel);
      work();
    });
    cancels.add(cancel);
  }

  /** By itself: what goes wrong is told once and tried again. */
  async function byItself(): Promise<void> {
    if (settings.remote === null) return;
    try {
      const { state } = await track(runInTurn({ remote: settings.remote }));
      failures = state === "ok" ? 0 : failures + 1;
    } catch (error) {
      failures++;
      if (stopped) return;
      const why = error instanceof Error ? error.message : String(error);
      if (failures === 1)
        deps.warn("a sync failed", {
          remote: settings.remote,
          why,
          outcome: "tried again, ever more rarely",
        });
    }
  }

  async function again(): Promise<void> {
    await byItself();
    const { intervalMs } = settings;
    const pauseMs = failures > 0 ? backoffMs(failures, AGAIN, deps.random) : intervalMs;
    if (pauseMs !== null && (intervalMs !== null || settings.onChangeMs !== null))
      later(pauseMs, () => void again());
  }

  /** Whether the branch moved is looked at, not listened for: a look costs one small read. */
  function lookForChange(): void {
    const { onChangeMs } = settings;
    if (onChangeMs === null) return;
    later(
      Math.max(onChangeMs, 50),
      () =>
        void (async () => {
          try {
            // A remote that failed has its own time.
            if (failures === 0 && (await store.tip()) !== seen) await byItself();
          } finally {
            lookForChange();
          }
        })().catch((error: unknown) => deps.warn("the branch can't be looked at", { why: String(error) })),
    );
  }

  return {
    run: (wish) => track(named(wish.remote).then((remote) => runInTurn({ ...wish, remote }))),
    async status(remote) {
      const name = await named(remote);
      const known = last.get(name);
      const { kept, shown } = await deps.remotes.open(name);
      const [head, there] = [await store.tip(), deps.remotes.read(`${kept}/branch`)];
      return {
        ...(known ?? { pulled: 0, pushed: 0, message: null, at: null, state: "waiting" }),
        remote: shown,
        ahead: head === null ? 0 : await deps.remotes.count(there, head),
        behind: there === null ? 0 : await deps.remotes.count(head, there),
        conflicts: (await store.conflicts()).length,
        head,
      };
    },
    fetchedMs: () => fetchedMs,
    start() {
      if (settings.remote === null) return;
      if (settings.intervalMs !== null || settings.onChangeMs !== null) void again();
      lookForChange();
    },
    async stop() {
      stopped = true;
      for (const cancel of cancels) cancel();
      await running;
    },
  };
}
