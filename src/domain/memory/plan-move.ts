/**
 * A memory under another name: its file goes to the path that the name gives, and only the words that name it change.
 * One commit, so that it is at no moment there twice or not at all. Pure.
 */
import type { Change } from "../change.ts";
import { changesLine } from "../changes-line.ts";
import { memoryId } from "../identity.ts";
import { readableNote, updateNoteFile } from "../note-file-write.ts";
import { memoryPath } from "../note-path.ts";
import type { CurrentNote, Plan, PlanContext } from "../plan.ts";
import { agreeingNames } from "./memory-words.ts";
import { memoryOf } from "./plan-save.ts";

/**
 * @throws NotesError INVALID_NOTE    the file can't be read as a note, or not be changed without touching more
 * @throws NotesError INVALID_PARAMS  no memory has such a name
 */
export function planMove(
  change: Extract<Change, { kind: "move" }>,
  current: CurrentNote,
  { nowMs, types, givesWay }: Pick<PlanContext, "nowMs" | "types" | "givesWay">,
): Plan {
  const memory = memoryOf(change);
  const path = memoryPath(memory);
  const { fields, front } = readableNote(current.path, current.bytes, types);
  const bytes = updateNoteFile(path, current.bytes, types, {
    names: agreeingNames(memory, front.data),
    updatedAt: new Date(nowMs).toISOString(),
  });
  const { title, type } = readableNote(path, bytes, types).fields;
  return {
    action: "save",
    noteId: memoryId(memory),
    path,
    expected: givesWay ?? null,
    bytes,
    title,
    type,
    changes: changesLine(named(fields.key), named(memory.key)),
    noop: false,
    merged: false,
    leaves: { path: current.path, revision: current.revision },
  };
}

const named = (key: string | null) => ({ fields: { key }, tags: [], body: "" });
