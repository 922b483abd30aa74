/**
 * What the fold remembers, as it is looked at: a commit, a note file as one commit left it, a line of history.
 * Plain data, immutable; kept in columns (`commit-table.ts`, `entry-table.ts`). Nothing here holds a note's text.
 */
import type { NoteSource } from "../domain/event.ts";
import type { BlobId, CommitId, NoteId, RepoPath, Trust } from "../domain/note.ts";
import type { Pin } from "./pin.ts";

/** What history needs of a file's content; shared by revisions that agree in it. */
export interface Brief {
  readonly title: string;
  /** Null: the file can't be read as a note. */
  readonly type: string | null;
  readonly tags: readonly string[];
  /** The valid `id` of the front matter, or null. */
  readonly claim: string | null;
}

/** A note file in the state of some commit. */
export interface Entry {
  readonly path: RepoPath;
  readonly blob: BlobId;
  /** The id it is served under. */
  readonly id: NoteId;
  /** Its `f_…` id; null while the file's own claim holds. */
  readonly fallback: NoteId | null;
  /** Commit (number in the graph) that first added the note: its creator and its age. */
  readonly first: number;
  /** Commit that last changed the file. */
  readonly changed: number;
  readonly trust: Trust;
  readonly pin: Pin;
  readonly brief: Brief;
}

/** One line of history as it is kept; the rest is its commit's. */
export interface Row {
  readonly commit: number;
  readonly action: string;
  /** As the commit left it; of a deleted file as it was before. */
  readonly entry: Entry;
  readonly gone: boolean;
}

/** A commit as it is kept. Numbers are places in the graph, in order of arrival. */
export interface CommitRecord {
  readonly id: CommitId;
  readonly parents: readonly number[];
  readonly atMs: number;
  readonly source: NoteSource | "git";
  readonly agent: { readonly agentId: number; readonly name: string } | null;
  readonly session: string | null;
  /** What this commit's own changes are trusted as. */
  readonly trust: Trust;
  /** Whether the file's own updated_at is ours to believe. */
  readonly stamps: boolean;
  readonly request: { readonly key: string; readonly hash: string; readonly noteId: NoteId | null } | null;
  /** By path. */
  readonly rows: readonly Row[];
  /** The run of first parents that this commit belongs to, and its place there. */
  readonly chain: number;
  readonly place: number;
}
