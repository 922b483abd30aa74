/**
 * Looking at working files: three trees for each path of interest, and the books kept of what was seen. It
 * changes no file and no branch. Invariant: every path that isn't level is either an unsettled edit, a
 * report, or returned as lagging.
 */
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import type { DiskFile, NoteStore } from "../../store/note-store.ts";
import { isConflictedCopy, isLitter } from "./litter.ts";
import type { Settling } from "./settling.ts";
import { judge, type Verdict } from "./three-trees.ts";
import type { Uneven } from "./uneven.ts";

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

interface Looking {
  /**
   * Look at given paths, or at everything; null while the files are not the branch's (HEAD elsewhere, a
   * merge or rebase under way), and then every unsettled edit is forgotten: it is found again afterwards.
   *
   * @param trustTimes take a file's own time as the time of the save (at start, when nobody saw it happen)
   */
  at(paths: Iterable<RepoPath> | null, trustTimes?: boolean): Promise<Look | null>;
  /** True since the files were last seen to be somebody else's: the next look must be at everything. */
  readonly away: boolean;
  readonly reports: ReadonlyMap<RepoPath, string>;
}

/** Make the looker of one reconciler. Nothing is looked at yet. */
export function createLooking(options: {
  readonly store: NoteStore;
  readonly settling: Settling;
  readonly uneven: Uneven;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): Looking {
  const { store, settling, uneven, now } = options;
  const reports = new Map<RepoPath, string>();
  let away = false;

  /** The files, and for everything also what the scan can't name: new notes of the branch, vanished edits. */
  async function filesOf(
    paths: Iterable<RepoPath> | null,
    differ: ReadonlySet<RepoPath>,
  ): Promise<DiskFile[]> {
    if (paths !== null) return store.workTree.scan(paths);
    const files = await store.workTree.scan();
    const seen = new Set(files.map((file) => file.path));
    const known = [...differ, ...[...settling.all()].map((edit) => edit.path)];
    const unseen = known.filter((path) => !seen.has(path));
    for (const path of reports.keys()) if (!seen.has(path)) reports.delete(path);
    return unseen.length === 0 ? files : files.concat(await store.workTree.scan(new Set(unseen)));
  }

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
    if (lags && !deletion) settling.forget(path);
    else settling.saw(path, disk, tip, savedMs);
  }

  return {
    reports,
    get away() {
      return away;
    },
    async at(paths, trustTimes = false) {
      const { state } = await store.state();
      if (state !== "ok" && state !== "unborn" && state !== "locked") {
        away = true;
        settling.clear();
        return null;
      }
      const { tip, paths: differ } = await uneven.look();
      const everything = paths === null || away;
      const standings: Standing[] = [];
      const nowMs = now();
      for (const file of await filesOf(everything ? null : paths, differ)) {
        const { path } = file;
        const base = store.workTree.base(path);
        const held = tip === null ? null : differ.has(path) ? await store.blobAt(tip, path) : base;
        const report = unfit(file, held === null && base === null);
        if (report === null) reports.delete(path);
        else reports.set(path, report);
        const disk = file.kind === "file" ? file.blob : null;
        const verdict = judge(base, held, disk);
        const litter = held === null && base === null && isLitter(path);
        if (report !== null || litter || verdict.kind === "level") {
          settling.forget(path);
          continue;
        }
        const standing: Standing = { path, verdict: verdict.kind, base, tip: held, disk };
        const savedMs = trustTimes && file.kind === "file" ? Math.min(nowMs, file.mtimeMs) : nowMs;
        keepBooks(standing, savedMs);
        standings.push(standing);
      }
      if (everything) away = false;
      return { tip, standings };
    },
  };
}
