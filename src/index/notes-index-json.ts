/**
 * `notes_index.json`: the file that the original tool kept beside its notes, for other tools that read it.
 * Derived and never read by us; who writes it, when and whether is not decided here.
 *
 * @see spec: storage, section 1
 */

import { isReservedKey } from "../domain/memory/memory-key.ts";
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

const NOTES_A_TURN = 128;
/** How often the index may move on before the file is left as it is. */
const TRIES = 4;

/**
 * The file's text: `{id: {id, title, type, tags, …}}`, by path, without what can't be read, is expired or hidden. Made in
 * slices between which others have their turn.
 * @returns null when the index never stood still for long enough
 */
export async function notesIndexJson(
  index: Pick<NoteIndex, "head" | "files" | "get" | "quarantine">,
  nowMs: number,
): Promise<string | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    const text = await textOf(index, nowMs);
    if (text !== null) return text;
  }
  return null;
}

async function textOf(
  index: Pick<NoteIndex, "head" | "files" | "get" | "quarantine">,
  nowMs: number,
): Promise<string | null> {
  const { head } = index;
  const notes: string[] = [];
  for (const [i, { noteId }] of index.files().entries()) {
    if (i % NOTES_A_TURN === NOTES_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    if (index.head !== head) return null;
    const note = index.get(noteId);
    if (note === null || index.quarantine(noteId) || isExpired(note, nowMs)) continue;
    if (note.key !== null && isReservedKey(note.key)) continue;
    const { title, type, tags, created_at, updated_at, path } = note;
    const shown: IndexedNote = { id: noteId, title, type, tags, created_at, updated_at, file_path: path };
    // One member of the object, indented as it stands in it.
    notes.push(JSON.stringify({ [noteId]: shown }, null, 2).slice(2, -2));
  }
  return notes.length === 0 ? "{}\n" : `{\n${notes.join(",\n")}\n}\n`;
}
