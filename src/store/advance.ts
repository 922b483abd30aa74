/**
 * Words of moving the branch to a descendant: to a commit that stands already, or to a merge of it with ours. Unlike
 * a draft these name entries of every kind, since what others committed is not notes alone.
 */
import type { CommitMessage } from "../domain/commit-message.ts";
import type { Author } from "../domain/event.ts";
import type { CommitId, RepoPath } from "../domain/note.ts";

/** What stands at a path of a tree: a file, a link, or a submodule (its `id` is a commit). */
export interface Entry {
  readonly mode: "100644" | "100755" | "120000" | "160000";
  /** 40 hex digits. */
  readonly id: string;
}

export const sameEntry = (a: Entry | null, b: Entry | null): boolean =>
  a?.id === b?.id && a?.mode === b?.mode;

/** One path of any kind that differs between two commits. */
export interface EntryChange {
  readonly path: RepoPath;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** One path that a merge changes in our side's tree. */
export interface EntryWish {
  readonly path: RepoPath;
  /** What our side's tree holds there. */
  readonly expected: Entry | null;
  readonly entry: Entry | null;
  /** Of `entry`, where no commit holds its blob yet. */
  readonly bytes?: Uint8Array;
}

/** Where the branch shall go, and the notes whose working file stays as it is where that is a person's edit. */
export type Advance = Move & {
  /**
   * Such an edit, or deletion, is no reason to refuse the move: branch and Git index move, file and base stay, so that it
   * is one on top of what the file was. A file that nobody touched follows all the same.
   */
  readonly leave?: ReadonlySet<RepoPath>;
};

type Move =
  | {
      /** To a commit that stands already and descends from `from`. */
      readonly kind: "forward";
      /** The tip that this was planned on; null: unborn. */
      readonly from: CommitId | null;
      readonly to: CommitId;
      readonly atMs: number;
      /** For the reflog, one line. */
      readonly why: string;
      /** A person chose to take a rewritten history over: `to` need not descend from `from`. */
      readonly rewritten?: boolean;
    }
  | {
      /** To a merge commit of `from` and `theirs`: our side's tree with these paths changed. */
      readonly kind: "merge";
      readonly from: CommitId;
      readonly theirs: CommitId;
      readonly files: readonly EntryWish[];
      readonly author: Author;
      readonly atMs: number;
      readonly message: CommitMessage;
    };

export type AdvanceOutcome =
  | {
      readonly kind: "moved";
      readonly tip: CommitId;
      /** Paths whose working file could not be placed; repaired in the background. */
      readonly pending: readonly RepoPath[];
    }
  /** The branch is elsewhere by now: plan again. */
  | { readonly kind: "lost"; readonly tip: CommitId | null }
  /** Working files, or what is staged of them, are a person's; nothing moved. Notes can be adopted, others not. */
  | { readonly kind: "dirty"; readonly paths: readonly RepoPath[] }
  /** The tree holds what may not be placed, or what lies there is nobody's to replace; nothing moved. */
  | { readonly kind: "blocked"; readonly path: string; readonly why: string };
