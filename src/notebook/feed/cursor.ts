/**
 * Cursors: where a client is in the log, as text. Opaque to clients; a bare head id whenever that is enough.
 * Forms: `<commit>` after it; `<commit>@<n>` the place of move n, when the branch was at the commit before;
 * `…+<k>` with k events of the batch that follows; `<commit>..<place>+<k>` inside a squashed difference.
 * What they mean today is `log-reader.ts`.
 */
import type { CommitId } from "../../domain/note.ts";

const NONE = "0".repeat(40);
/** The cursor of the place before the first commit. */
export const BEGINNING = NONE;
const CURSOR = /^(?:([0-9a-f]{40})\.\.)?([0-9a-f]{40})(?:@(\d{1,15}))?(?:\+(\d{1,9}))?$/;

export interface Cursor {
  /** Absent: not inside a squashed difference. */
  readonly squashedFrom?: CommitId | null;
  readonly commit: CommitId | null;
  /** Number of the move that ends at `commit`; null: the one that a bare id names. */
  readonly n: number | null;
  /** Events of the following batch that the client has already. */
  readonly skip: number;
}

/** Write a cursor as the text that a client gets. */
export function formatCursor(cursor: Cursor): string {
  const squashed = cursor.squashedFrom === undefined ? "" : `${cursor.squashedFrom ?? NONE}..`;
  const visit = cursor.n === null ? "" : `@${cursor.n}`;
  return `${squashed}${cursor.commit ?? NONE}${visit}${cursor.skip === 0 ? "" : `+${cursor.skip}`}`;
}

/** Read a cursor, or null when the text is none (it may still name a commit or a time). */
export function parseCursor(text: string): Cursor | null {
  const match = CURSOR.exec(text);
  if (!match) return null;
  const [, from, commit = NONE, n, skip] = match;
  return {
    ...(from === undefined ? {} : { squashedFrom: commitOrNone(from) }),
    commit: commitOrNone(commit),
    n: n === undefined ? null : Number(n),
    skip: skip === undefined ? 0 : Number(skip),
  };
}

/** @param text 40 hex digits, as the pattern holds */
function commitOrNone(text: string): CommitId | null {
  return text === NONE ? null : (text as CommitId); // checked by CURSOR
}
