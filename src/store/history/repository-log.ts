/** The history of a repository on disk: its objects, and the log that reads them. */
import { parseCommit } from "../../domain/commit-proof.ts";
import type { CommitId } from "../../domain/note.ts";
import { type GitObjects, gitObjects } from "../objects/objects.ts";
import { noteFilter } from "../trees/note-filter.ts";
import { createGitLog, type GitLog } from "./git-log.ts";

/** What a repository's history depends on. Plain data: it crosses to a thread. */
export interface RepositoryHistory {
  /** Absolute Git directory. */
  readonly gitdir: string;
  readonly roots: readonly string[];
  /** 32 bytes. */
  readonly proofKey: Uint8Array;
  /** As `shallowCommits` gave them when the store was opened, so that every reader cuts history at the same place. */
  readonly shallow: ReadonlySet<CommitId>;
}

/** Open it. Nothing is read yet. @param objects  those of the repository, when they are open already */
export function openRepositoryLog(
  { gitdir, roots, proofKey, shallow }: RepositoryHistory,
  objects: GitObjects = gitObjects(gitdir),
): { readonly log: GitLog; readonly objects: GitObjects } {
  const log = createGitLog({
    readCommit: (id) => objects.read("commit", id),
    readTree: (id) => objects.read("tree", id),
    parse(id, raw) {
      const commit = parseCommit(id, raw, proofKey);
      return shallow.has(id) ? { ...commit, parents: [] } : commit;
    },
    isCutAt: (id) => shallow.has(id),
    notes: noteFilter(roots),
  });
  return { log, objects };
}
