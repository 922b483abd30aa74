/**
 * The header of a raw commit object: tree, parents, dates. What the message says is the domain's
 * (`domain/commit-message.ts`).
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";

export interface CommitHeader {
  /** 40 hex digits of the root tree. */
  readonly tree: string;
  readonly parents: readonly CommitId[];
  /** Author date, seconds since the epoch. */
  readonly authoredS: number;
  /** Committer date, seconds since the epoch. */
  readonly committedS: number;
}

/**
 * Read tree, parents and dates of a commit object without its object header.
 *
 * @throws NotesError STORAGE it has no tree line
 */
export function parseHeader(id: CommitId, raw: Uint8Array): CommitHeader {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = bytes.indexOf("\n\n");
  const head = bytes.toString("latin1", 0, end < 0 ? bytes.length : end);
  if (!TREE_LINE.test(head)) {
    throw new NotesError("STORAGE", `The object ${id} is no commit; run git fsck on the repository.`, {
      commit: id,
    });
  }
  const parents: CommitId[] = [];
  // Only the first block of parent lines counts; a parent's 40 hex digits are what the brand names.
  let at = TREE_LINE_CHARS;
  while (head.startsWith("parent ", at)) {
    const lineEnd = head.indexOf("\n", at);
    const idEnd = lineEnd < 0 ? head.length : lineEnd;
    // Cut from the bytes: a slice of the text would hold all of it for as long as the id lives.
    parents.push(bytes.toString("latin1", at + 7, idEnd) as CommitId);
    at = idEnd + 1;
  }
  return {
    tree: bytes.toString("latin1", 5, 45),
    parents,
    authoredS: dateOf(head, "\nauthor "),
    committedS: dateOf(head, "\ncommitter "),
  };
}

const TREE_LINE = /^tree [0-9a-f]{40}(?:\n|$)/;
const TREE_LINE_CHARS = "tree \n".length + 40;
const DATE = /> (-?\d+) [+-]\d+$/;

/** The date of the first line that begins so. */
function dateOf(head: string, start: string): number {
  const at = head.indexOf(start);
  if (at < 0) return 0;
  const end = head.indexOf("\n", at + 1);
  // A mangled date reads as the epoch, as in Git.
  return Number(DATE.exec(head.slice(at, end < 0 ? head.length : end))?.[1] ?? 0);
}
