/** Finding the note a caller names, or saying why there is none. */
import { NotesError } from "../domain/errors.ts";
import { isExpired, type NoteId, type NoteMetadata } from "../domain/note.ts";
import type { NoteIndex } from "../index/note-index.ts";

/**
 * @param gone it was deleted by a write that is about to be committed
 * @throws NotesError NOT_FOUND unknown, deleted (when history knows it `data.deleted_in`, and `data.last_commit` at
 *   which it was there) or expired (`data.expired_at`, `data.last_commit`)
 */
export function requireNote(
  index: Pick<NoteIndex, "get" | "deletedIn" | "history">,
  id: string,
  nowMs: number,
  gone = false,
): NoteMetadata {
  const note = gone ? null : index.get(id);
  if (note !== null && !isExpired(note, nowMs)) return note;
  const deletedIn = note === null ? index.deletedIn(id) : null;
  const why =
    note !== null ? "has expired" : gone || deletedIn !== null ? "was deleted" : "does not exist here";
  const noteId = note !== null ? note.note_id : deletedIn !== null || gone ? id : null;
  // Ids of the index, or what it knows as deleted.
  const rows = noteId === null ? [] : index.history({ noteId: noteId as NoteId }, ROWS_LOOKED_AT, null).items;
  const last = rows.find((row) => row.revision !== null)?.commit ?? null;
  const advice =
    last === null
      ? "List or search to find the id of another."
      : `It was last there at ${last}: notes.restore with that as at brings it back.`;
  throw new NotesError("NOT_FOUND", `The note ${JSON.stringify(id)} ${why}. ${advice}`, {
    note_id: id,
    ...(deletedIn === null ? {} : { deleted_in: deletedIn }),
    ...(note === null ? {} : { expired_at: note.expires_at }),
    ...(last === null ? {} : { last_commit: last }),
  });
}

/** The last row of a note that is gone says so, and where it moved before its commits left a place as well. */
const ROWS_LOOKED_AT = 50;
