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
  const lines = bytes.toString("latin1", 0, end < 0 ? bytes.length : end).split("\n");
  const tree = lines[0] ?? "";
  if (!/^tree [0-9a-f]{40}$/.test(tree)) {
    throw new NotesError("STORAGE", `The object ${id} is no commit; run git fsck on the repository.`, {
      commit: id,
    });
  }
  const parents: CommitId[] = [];
  // Only the first block of parent lines counts; a parent's 40 hex digits are what the brand names.
  for (let i = 1; lines[i]?.startsWith("parent "); i++) parents.push((lines[i] ?? "").slice(7) as CommitId);
  return {
    tree: tree.slice(5),
    parents,
    authoredS: dateOf(lines, "author "),
    committedS: dateOf(lines, "committer "),
  };
}

function dateOf(lines: readonly string[], start: string): number {
  const line = lines.find((l) => l.startsWith(start)) ?? "";
  // A mangled date reads as the epoch, as in Git.
  return Number(/> (-?\d+) [+-]\d+$/.exec(line)?.[1] ?? 0);
}
