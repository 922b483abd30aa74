/**
 * A note whose committed text holds conflict markers: which earlier version is served instead. The file and
 * history stay as they are; resolving is an ordinary update.
 */
import { conflictMarkers } from "../domain/conflict-markers.ts";
import type { BlobId, NoteId } from "../domain/note.ts";
import type { NoteIndex } from "../index/note-index.ts";

const PAGE = 50;

/**
 * The newest version of a note without conflict markers.
 *
 * @param read the text of a version
 * @returns null when the note's present text has none, or no version is without: serve the present one
 * @cost nothing but one look at the text for a note without `<<<<<<<`
 */
export async function lastClean(
  noteId: NoteId,
  present: string,
  index: Pick<NoteIndex, "history">,
  read: (revision: BlobId) => Promise<string>,
): Promise<{ readonly revision: BlobId; readonly text: string } | null> {
  if (conflictMarkers(present) === null) return null;
  for (let cursor: string | null = null; ; ) {
    const page = index.history({ noteId }, PAGE, cursor);
    for (const { revision } of page.items) {
      const text = revision === null ? null : await read(revision);
      if (revision !== null && text !== null && conflictMarkers(text) === null) return { revision, text };
    }
    if (page.nextCursor === null) return null;
    cursor = page.nextCursor;
  }
}
