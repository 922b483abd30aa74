/**
 * `notes_index.json`: the file that the original tool kept beside its notes, for other tools that read it.
 * Derived and never read by us; who writes it, when and whether is not decided here.
 *
 * @see spec: storage, section 1
 */

import { isExpired } from "../domain/note.ts";
import type { NoteIndex } from "./note-index.ts";

interface IndexedNote {
  readonly id: string;
  readonly title: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly file_path: string;
}

/** The file's text: `{id: {id, title, type, tags, …}}`, by path, without what can't be read or is expired. */
export function notesIndexJson(
  index: Pick<NoteIndex, "files" | "get" | "quarantine">,
  nowMs: number,
): string {
  const notes: [string, IndexedNote][] = [];
  for (const { noteId } of index.files()) {
    const note = index.get(noteId);
    if (note === null || index.quarantine(noteId) || isExpired(note, nowMs)) continue;
    const { title, type, tags, created_at, updated_at, path } = note;
    notes.push([noteId, { id: noteId, title, type, tags, created_at, updated_at, file_path: path }]);
  }
  return `${JSON.stringify(Object.fromEntries(notes), null, 2)}\n`;
}
