/** Finding the note a caller names, or saying why there is none. */
import { NotesError } from "../domain/errors.ts";
import { isExpired, type NoteMetadata } from "../domain/note.ts";
import type { NoteIndex } from "../index/note-index.ts";

/**
 * @param gone it was deleted by a write that is about to be committed
 * @throws NotesError NOT_FOUND unknown, deleted (`data.deleted_in` when history knows it) or expired (`data.expired_at`)
 */
export function requireNote(
  index: Pick<NoteIndex, "get" | "deletedIn">,
  id: string,
  nowMs: number,
  gone = false,
): NoteMetadata {
  const note = gone ? null : index.get(id);
  if (note !== null && !isExpired(note, nowMs)) return note;
  const deletedIn = note === null ? index.deletedIn(id) : null;
  const why =
    note !== null ? "has expired" : gone || deletedIn !== null ? "was deleted" : "does not exist here";
  throw new NotesError(
    "NOT_FOUND",
    `The note ${JSON.stringify(id)} ${why}. List or search to find the id of another.`,
    {
      note_id: id,
      ...(deletedIn === null ? {} : { deleted_in: deletedIn }),
      ...(note === null ? {} : { expired_at: note.expires_at }),
    },
  );
}
