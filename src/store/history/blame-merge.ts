/**
 * Who last changed a path that a merge took from another parent: what `git log -1 -- path` finds from the
 * merge by default simplification, for many paths in one walk.
 */
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { TreeChange } from "../note-store.ts";
import { blobInTree, diffTrees, type PathFilter, type ReadTree } from "../trees/tree-diff.ts";
import type { CommitHeader } from "./commit-header.ts";

interface Source {
  header(id: CommitId): CommitHeader;
  readonly readTree: ReadTree;
  readonly notes: PathFilter;
}

/**
 * Find the last change of each path of a merge's difference to its first parent.
 * A merge whose file is the same as a parent's sends the question to the first such parent alone; a commit
 * that differs from all its parents is the answer. A path that was never there is left out.
 *
 * @cost the commits of the other side down to the last answer, one tree difference for each parent looked at
 */
export async function lastChanges(
  source: Source,
  merge: CommitId,
  changes: readonly TreeChange[],
): Promise<Map<RepoPath, CommitId>> {
  const found = new Map<RepoPath, CommitId>();
  const turn = slicer();
  const waiting = new Map<CommitId, Set<RepoPath>>([[merge, new Set(changes.map((c) => c.path))]]);
  for (let at = newest(waiting); at !== undefined; at = newest(waiting)) {
    const paths = waiting.get(at) ?? new Set();
    waiting.delete(at);
    look(at, paths);
    await turn();
  }
  return found;

  function look(id: CommitId, paths: ReadonlySet<RepoPath>): void {
    const { tree, parents } = source.header(id);
    let left = paths;
    for (const parent of parents) {
      const differing = differingFrom(source.header(parent).tree, tree, left);
      const same = [...left].filter((path) => !differing.has(path));
      if (same.length > 0) {
        const there = waiting.get(parent) ?? new Set();
        for (const path of same) there.add(path);
        waiting.set(parent, there);
      }
      left = differing;
      if (left.size === 0) return;
    }
    // At a root commit a path that is absent was never there.
    for (const path of left) if (parents.length > 0 || has(tree, path)) found.set(path, id);
  }

  /** Those of `paths` that differ between two trees. */
  function differingFrom(a: string, b: string, paths: ReadonlySet<RepoPath>): Set<RepoPath> {
    const wanted: PathFilter = { file: (path) => paths.has(path), folder: source.notes.folder };
    return new Set(diffTrees(source.readTree, a, b, wanted).map((c) => c.path));
  }

  function has(tree: string, path: RepoPath): boolean {
    const blob: BlobId | null = blobInTree(source.readTree, tree, path);
    return blob !== null;
  }
}

/** Any order gives the same answers; the last one queued is nearest to the merge on a chain. */
function newest(waiting: ReadonlyMap<CommitId, unknown>): CommitId | undefined {
  let last: CommitId | undefined;
  for (const id of waiting.keys()) last = id;
  return last;
}
