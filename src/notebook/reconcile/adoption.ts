/**
 * From settled hand edits to drafts: what one commit of them holds and says. Nothing here looks at the disk
 * or the branch. Invariant: a draft's bytes are a person's own, or a clean merge of them with the branch.
 */
import { type CommitMessage, NO_REQUEST } from "../../domain/commit-message.ts";
import type { Author } from "../../domain/event.ts";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { Draft } from "../../store/note-store.ts";

/** One hand edit, read and ready. */
export interface Adoptable {
  readonly path: RepoPath;
  /** The note that it is, as far as known before the commit. A rename's halves share one. */
  readonly noteId: string;
  readonly title: string;
  /** What the branch holds there. */
  readonly expected: BlobId | null;
  /** What the person saved; null: they deleted the file. */
  readonly bytes: Uint8Array | null;
}

/** A hand edit merged with what the branch gained meanwhile. */
export interface Merged extends Adoptable {
  readonly noteType: string;
  /** The person's own text, still in the working file; `bytes` replace it. */
  readonly onDisk: BlobId;
}

export interface Signature {
  readonly author: Author;
  readonly atMs: number;
  /** From `notesd commit -m`. */
  readonly reason: string | null;
}

const message = (parts: Pick<CommitMessage, "action" | "label" | "title" | "noteIds" | "noteType">) => ({
  changes: null,
  source: "disk" as const,
  ...NO_REQUEST,
  ...parts,
});

/** One commit of hand edits that settled together: `adopt: N notes`, or `adopt: TITLE` of a single one. */
export function adoptionDraft(edits: readonly Adoptable[], { author, atMs, reason }: Signature): Draft {
  const noteIds = [...new Set(edits.map((edit) => edit.noteId))];
  const [only] = edits;
  const title = only !== undefined && noteIds.length === 1 ? only.title : `${noteIds.length} notes`;
  return {
    author,
    atMs,
    message: { reason, ...message({ action: "adopt", label: null, title, noteIds, noteType: null }) },
    files: edits.map(({ path, expected, bytes }) => ({ path, expected, bytes })),
    origin: "disk",
  };
}

/** One commit of a merged hand edit; the working file is brought to the merged text. */
export function mergeDraft(edit: Merged, { author, atMs, reason }: Signature): Draft {
  const { path, noteId, title, noteType, expected, bytes, onDisk } = edit;
  return {
    author,
    atMs,
    message: { reason, ...message({ action: "merge", label: noteType, title, noteIds: [noteId], noteType }) },
    files: [{ path, expected, bytes, onDisk }],
    origin: "door",
  };
}
