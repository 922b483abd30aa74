/**
 * Looking at working files: three trees for each path of interest, and the books kept of what was seen. It
 * changes no file and no branch. Invariant: every path that isn't level is either an unsettled edit, a
 * report, or returned as lagging.
 */
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { DiskFile, NoteStore } from "../../store/note-store.ts";
import { isAtHome } from "../../store/refs/at-home.ts";
import type { HeldEdits } from "./held-edits.ts";
import { isConflictedCopy, isLitter } from "./litter.ts";
import type { Settling } from "./settling.ts";
import { judge, type Verdict } from "./three-trees.ts";
import type { Uneven, UnevenLook } from "./uneven.ts";

/** One path that isn't level. */
export interface Standing {
  readonly path: RepoPath;
  readonly verdict: Exclude<Verdict["kind"], "level">;
  readonly base: BlobId | null;
  readonly tip: BlobId | null;
  readonly disk: BlobId | null;
}

export interface Look {
  readonly tip: CommitId | null;
  readonly standings: readonly Standing[];
}

export interface Looking {
  /**
   * Look at given paths, or at everything; null while the files are not the branch's (HEAD elsewhere, a
   * merge or rebase under way), and then every unsettled edit is forgotten: it is found again afterwards.
   *
   * @param trustTimes take a file's own time as the time of the save (at start, when nobody saw it happen)
   */
  at(paths: Iterable<RepoPath> | null, trustTimes?: boolean): Promise<Look | null>;
  /** Look at nothing any more: a look under way ends where it is, as null. */
  stop(): void;
  /** True since the files were last seen to be somebody else's: the next look must be at everything. */
  readonly away: boolean;
  readonly reports: ReadonlyMap<RepoPath, string>;
}

/** Make the looker of one reconciler. Nothing is looked at yet. */
export function createLooking(options: {
  readonly store: NoteStore;
  readonly settling: Settling;
  readonly uneven: Uneven;
  readonly books: HeldEdits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): Looking {
  const { store, settling, uneven, books, now } = options;
  const reports = new Map<RepoPath, string>();
  let away = false;
  let stopped = false;
  /** How often the files were found to be somebody else's. */
  let absences = 0;
  /** Rewinds that a look at every file, whether it changed or not, has followed; null: none has yet. */
  let seenRewinds: number | null = null;

  /** A file that is never committed by us, and why; null: an ordinary one. */
  function unfit(file: DiskFile, isNew: boolean): string | null {
    if (file.kind === "unfit") return file.reason;
    const copy = file.kind === "file" && isNew && isConflictedCopy(file.path);
    return copy ? "a conflicted copy: merge it into its note by hand, then delete it" : null;
  }

  function keepBooks(standing: Standing, savedMs: number): void {
    const { path, verdict, base, tip, disk } = standing;
    const lags = verdict === "accept" || verdict === "bring-forward";
    // A note that was deleted here while the branch edited it comes back, but not under an editor's hands.
    const deletion = verdict === "bring-forward" && disk === null && base !== null;
    if (lags && !deletion) {
      forget(path);
      return;
    }
    const edit = settling.saw(path, disk, tip, savedMs);
    if (edit.hold !== null || !books.stands(path, disk, tip)) return;
    settling.hold(path, "secret");
    const from = books.from(path);
    if (from !== null) settling.tie(from, path);
  }

  /** No edit waits there. */
  function forget(path: RepoPath): void {
    settling.forget(path);
    books.forget(path);
  }

  /** Judge one file. @returns null when it is level, or nobody's to commit */
  function judged(file: DiskFile, { tip, paths }: UnevenLook, trustTimes: boolean): Standing | null {
    const { path } = file;
    const base = store.workTree.base(path);
    const uneven = paths.get(path);
    const held = tip === null ? null : uneven === undefined ? base : uneven;
    const isNew = held === null && base === null;
    const report = unfit(file, isNew);
    if (report === null) reports.delete(path);
    else reports.set(path, report);
    const disk = file.kind === "file" ? file.blob : null;
    const verdict = judge(base, held, disk);
    if (report !== null || (isNew && isLitter(path)) || verdict.kind === "level") {
      forget(path);
      return null;
    }
    const standing: Standing = { path, verdict: verdict.kind, base, tip: held, disk };
    const nowMs = now();
    keepBooks(standing, trustTimes && file.kind === "file" ? Math.min(nowMs, file.mtimeMs) : nowMs);
    return standing;
  }

  /** Every file that may have changed, and what a sweep doesn't tell of: what waits, and what lags. */
  async function* sweep(
    differ: UnevenLook,
    followed: readonly RepoPath[],
    afresh: boolean,
  ): AsyncGenerator<readonly DiskFile[]> {
    const told = new Set<RepoPath>();
    for await (const files of store.workTree.sweep(afresh)) {
      for (const { path } of files) told.add(path);
      yield files;
    }
    const waiting = [...differ.paths.keys(), ...followed, ...[...settling.all()].map((edit) => edit.path)];
    const others = [...waiting, ...reports.keys()].filter((path) => !told.has(path));
    const files = others.length === 0 ? [] : await store.workTree.scan(new Set(others));
    yield files;
    const seen = new Set(files.map(({ path }) => path));
    for (const path of reports.keys()) if (!seen.has(path) && !told.has(path)) reports.delete(path);
  }

  return {
    reports,
    get away() {
      return away;
    },
    stop() {
      stopped = true;
    },
    async at(paths, trustTimes = false) {
      if (!isAtHome(await store.state())) {
        away = true;
        absences++;
        settling.clear();
        return null;
      }
      const before = absences;
      const differ = await uneven.look();
      const { rewinds } = uneven;
      const everything = paths === null || away;
      // Files that nobody touched are edits by now, where the branch moved under them or they were forgotten.
      const afresh = away || seenRewinds !== rewinds;
      const followed = everything ? [...uneven.followed] : [];
      const found = everything ? sweep(differ, followed, afresh) : [await store.workTree.scan(paths)];
      const standings: Standing[] = [];
      const turn = slicer();
      for await (const files of found) {
        if (stopped) return null;
        for (const file of files) {
          const standing = judged(file, differ, trustTimes);
          if (standing !== null) standings.push(standing);
          const pause = turn();
          if (pause !== null) await pause;
        }
      }
      if (everything && absences === before) {
        away = false;
        seenRewinds = rewinds;
        for (const path of followed) uneven.followed.delete(path);
        for (const path of books.paths()) if (settling.get(path) === undefined) books.forget(path);
      }
      return { tip: differ.tip, standings };
    },
  };
}
