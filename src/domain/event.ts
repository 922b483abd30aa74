/**
 * A commit is an event. The store returns these when it commits and yields them when it reads history;
 * the index folds them. Nothing here knows note ids beyond what a proved commit's trailers say:
 * ids of files are the fold's to decide.
 */
import type { BlobId, CommitId, RepoPath } from "./note.ts";

/** What a commit of ours says it did (`Note-Action`). */
export const COMMIT_ACTIONS = [
  "create",
  "update",
  "append",
  "edit",
  "delete",
  "restore",
  "save",
  "expire",
  "adopt",
  "merge",
  "import",
] as const;
export type CommitAction = (typeof COMMIT_ACTIONS)[number];

export type NoteSource = "api" | "disk" | "import" | "push";

export interface Author {
  readonly name: string;
  readonly email: string;
}

/** The trailers of a commit whose Note-Proof is valid here. Absent proof: none of this may be believed. */
export interface Proved {
  readonly action: CommitAction;
  readonly noteIds: readonly string[];
  readonly noteType: string | null;
  readonly source: NoteSource;
  readonly agent: string | null;
  readonly agentId: number | null;
  readonly session: string | null;
  readonly requestKey: string | null;
  readonly requestHash: string | null;
}

/** What a proved commit calls its own change of a note; null where only what happened counts (adopt, push, no proof). */
export function ownWord({ proved }: Pick<CommitInfo, "proved">): CommitAction | null {
  return proved === null || proved.action === "adopt" || proved.source === "push" ? null : proved.action;
}

/** One commit's header and message, read once and shared by all of its events. */
export interface CommitInfo {
  readonly id: CommitId;
  readonly parents: readonly CommitId[];
  readonly author: Author;
  /** Author date, ISO 8601 with `Z`, milliseconds `.000`. */
  readonly at: string;
  readonly subject: string;
  /** The body's first paragraphs: why. Null when none was given, or for a commit without proof. */
  readonly reason: string | null;
  /** The changes line, e.g. `status: open → resolved; body +12 −3`. Null as `reason`. */
  readonly changes: string | null;
  readonly proved: Proved | null;
}

/**
 * One note file changed by one commit, against its first parent.
 * `by` differs from `commit` only in a merge, where a path was taken as it stood on another parent:
 * then it names the commit that last changed the path there.
 */
export type NoteEvent =
  | {
      readonly kind: "written";
      readonly commit: CommitInfo;
      readonly path: RepoPath;
      readonly before: BlobId | null;
      readonly after: BlobId;
      readonly by: CommitId;
      /** Set when this path is the one exact-content addition for one deletion in the same commit. */
      readonly renamedFrom: RepoPath | null;
    }
  | {
      readonly kind: "removed";
      readonly commit: CommitInfo;
      readonly path: RepoPath;
      readonly before: BlobId;
      readonly by: CommitId;
    };

/** A commit with its events, ordered by path bytes. A commit that changes no note has an empty list. */
export interface CommitEvents {
  readonly commit: CommitInfo;
  readonly events: readonly NoteEvent[];
}

/** Read a blob's bytes; the store's cache makes just-written ones cheap. */
export type ReadBlob = (id: BlobId) => Promise<Uint8Array>;
