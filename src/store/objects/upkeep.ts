/**
 * When the packs of a repository are looked after: small ones are put together in process while writes go on and when it
 * is quiet; when it is calm native Git, if there is one, looks for deltas among what is new. What is done is
 * `upkeep-work.ts`, in a thread of its own, and `git-repack.ts`.
 * Invariant: nothing here fails a write. From 400 packs on a writer waits for a merge, unless the last one ended less than
 * 150 packs ago; so our writing alone makes no more than 500 while merging succeeds. Where it fails, or what lies there can't
 * be merged, each 150 packs more it is tried again, and writes go on.
 */
import type { StoreParts } from "../store-parts.ts";
import type { Effort } from "./choose-packs.ts";
import { chooseToRepack } from "./choose-packs.ts";
import { gitRepack } from "./git-repack.ts";
import { clearPackLeftovers } from "./pack-leftovers.ts";
import { isGcRunning, listPacks } from "./pack-list.ts";
import { upkeepThread } from "./upkeep-thread.ts";
import type { UpkeepResult, UpkeepTask } from "./upkeep-work.ts";

/** Packs after which small ones are merged while writes go on. */
const MANY = 200;
/** Packs at which a writer waits for the merge. */
const FULL = 400;
/** After a merge that could not do more, so many packs later it is tried again. */
const AGAIN_AFTER = 50;
/** Packs that may be written meanwhile before a writer waits. */
const WAIT_AFTER = 150;
const QUIET_MS = 2_000;
/** Between two looks whether Git may repack, and how many publications in it still are calm. */
const CALM_MS = 15_000;
const CALM_WRITES = 15;
/** So many bytes without deltas are repacked in calm or not. */
const TOO_FRESH_BYTES = 512 << 20;
const LOOSE_EVERY_MS = 600_000;
const LONGEST_PAUSE_MS = 3_600_000;
const AGAIN = "the old packs stand; tried again later";

export interface Upkeep {
  /** A pack was written. Never throws: the commit in it stands. */
  wrote(): void;
  /** Wait until there is room for another pack: at once, unless there are hundreds. */
  room(): Promise<void>;
  /** End what is under way, and begin nothing more. No pack may be written meanwhile. */
  stop(): Promise<void>;
}

interface UpkeepParts extends Pick<StoreParts, "gitdir" | "clock" | "troubled" | "refSync"> {
  readonly foreign: Pick<StoreParts["foreign"], "look" | "isActive">;
  /** Packs were replaced by others: the reader's list is old. */
  readonly replaced: () => void;
}

/** Look after the packs of a repository in the background, beginning with what lies there. */
export function openUpkeep(parts: UpkeepParts): Upkeep {
  const { gitdir, clock, troubled, foreign, refSync, replaced } = parts;
  const thread = upkeepThread();
  const git = gitRepack();
  const damaged = new Set<string>();
  let packs = listPacks(gitdir).all;
  /** How many could not be avoided; those that lay there at the start are nobody's reason to wait. */
  let packsAfterMerge = packs;
  let publications = 0;
  let lastMs = clock.now();
  let looseMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let work: Promise<void> = Promise.resolve();
  let merging: Promise<void> | null = null;
  let repacking: readonly string[] | null = null;
  let gitAble = true;
  let pauseMs = CALM_MS;
  let cancelQuiet: (() => void) | null = null;
  let cancelCalm: (() => void) | null = null;

  /** The thread does one thing at a time. */
  function inThread(task: UpkeepTask): Promise<void> {
    work = work.then(async () => {
      if (!stopped) follow(await thread.run(task));
    });
    const done = work;
    work = work.catch(() => {});
    return done;
  }

  function follow(result: UpkeepResult): void {
    packs = result.packs;
    packsAfterMerge = packs;
    if (result.removed > 0) replaced();
    for (const { pack, why } of result.damaged) {
      damaged.add(pack);
      troubled(
        "a damaged pack was left as it is",
        new Error(`${why}. Run git fsck`),
        "the others are looked after",
      );
    }
    if (result.repack.length > 0) whenCalm();
  }

  /** Also resolves when it fails: nothing is lost then, and it is tried again. */
  function merge(effort: Effort): Promise<void> {
    if (merging !== null) return merging;
    // A person's gc does the same, and more.
    if (stopped || (packs < FULL && isGcRunning(gitdir))) return Promise.resolve();
    const lookForLoose = effort === "quiet" && clock.now() - looseMs >= LOOSE_EVERY_MS;
    if (lookForLoose) looseMs = clock.now();
    const leave = [...damaged, ...(repacking ?? [])];
    const looseAtMs = lookForLoose ? clock.now() : null;
    merging = inThread({ kind: "merge", gitdir, effort, leave, looseAtMs })
      .catch((error: unknown) => {
        packsAfterMerge = packs;
        if (!stopped) troubled("small packs could not be put together", error, AGAIN);
      })
      .finally(() => {
        merging = null;
      });
    return merging;
  }

  /** Nobody waits for a timer: what its work throws is told, and work that begins itself again does so. */
  function after(ms: number, work: () => void, again: () => void): () => void {
    return clock.after(ms, () => {
      try {
        work();
      } catch (error) {
        troubled("packs could not be looked at", error, AGAIN);
        again();
      }
    });
  }

  function whenQuiet(): void {
    if (cancelQuiet !== null || stopped) return;
    const work = () => {
      cancelQuiet = null;
      if (clock.now() - lastMs < QUIET_MS) whenQuiet();
      // One for writers is under way and leaves more than quiet does.
      else if (merging !== null) void merging.then(whenQuiet);
      else void merge("quiet");
    };
    // The next commit begins it again.
    cancelQuiet = after(Math.max(0, lastMs + QUIET_MS - clock.now()), work, () => {});
  }

  function whenCalm(): void {
    if (cancelCalm !== null || stopped || !gitAble || repacking !== null) return;
    const before = publications;
    const work = () => {
      cancelCalm = null;
      const chosen = toRepack();
      if (chosen.length === 0) return;
      foreign.look();
      const busy = publications - before > CALM_WRITES;
      const tooFresh = chosen.reduce((sum, { bytes }) => sum + bytes, 0) > TOO_FRESH_BYTES;
      if ((busy && !tooFresh) || merging !== null || foreign.isActive() || isGcRunning(gitdir)) whenCalm();
      else void repack();
    };
    cancelCalm = after(pauseMs, work, () => {
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      whenCalm();
    });
  }

  const toRepack = () => chooseToRepack(listPacks(gitdir).plain.filter(({ name }) => !damaged.has(name)));

  async function repack(): Promise<void> {
    repacking = [];
    try {
      // First, for what Git reads stands as it is until Git is done.
      await merge("quiet");
      const names = toRepack().map(({ name }) => name);
      if (names.length === 0 || stopped) return;
      repacking = names;
      const made = await git.run(gitdir, names);
      if (made.kind === "unable") gitAble = false;
      pauseMs = made.kind === "failed" ? Math.min(pauseMs * 2, LONGEST_PAUSE_MS) : CALM_MS;
      if (made.kind === "failed" && !stopped) troubled("Git could not repack", new Error(made.why), AGAIN);
      if (made.kind !== "packed") return;
      try {
        if (!isGcRunning(gitdir))
          await inThread({ kind: "install", gitdir, folder: made.folder, old: names });
      } finally {
        made.remove();
      }
    } catch (error) {
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (!stopped) troubled("packs could not be repacked", error, AGAIN);
    } finally {
      repacking = null;
      whenCalm();
    }
  }

  if (packs >= MANY) void merge("busy");
  whenQuiet();
  return {
    wrote() {
      publications++;
      packs++;
      lastMs = clock.now();
      whenQuiet();
      if (packs >= MANY && packs >= packsAfterMerge + AGAIN_AFTER) void merge("busy");
    },
    async room() {
      if (packs >= FULL && packs >= packsAfterMerge + WAIT_AFTER) await merge("busy");
    },
    async stop() {
      stopped = true;
      cancelQuiet?.();
      cancelCalm?.();
      await Promise.all([git.stop(), thread.stop()]);
      await work;
      try {
        // A .keep may stand since the branch could not be synced.
        await refSync.owed();
        clearPackLeftovers(gitdir);
      } catch (error) {
        troubled("what was left of packs could not be cleared", error, "cleared at the next start");
      }
    },
  };
}
