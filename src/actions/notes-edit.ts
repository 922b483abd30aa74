/** `notes.edit`: replace one piece of a note's text. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { given } from "./filter-inputs.ts";
import { IfRevision, NoteIdInput, noteId, WriteInputs } from "./inputs.ts";
import { UpdateOutput, updateAnswer, WRITE_ERRORS, write } from "./write.ts";

export const notesEdit = defineAction({
  name: "notes.edit",
  effects: "write",
  summary: "Replace one piece of a note's text.",
  description:
    "Replace old_str, which must occur exactly once in the note's text, by new_str. When it occurs never or several times nothing is changed; CONFLICT tells which, so give more of the text around it.",
  input: z.strictObject({
    note_id: NoteIdInput,
    old_str: z.string().min(1).describe("Occurs exactly once in the text, blanks and line ends included."),
    new_str: z.string().describe("Takes its place; empty removes it."),
    if_revision: IfRevision.optional(),
    ...WriteInputs,
  }),
  output: UpdateOutput,
  errors: ["NOT_FOUND", "CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS],
  examples: [
    {
      name: "Correct one word",
      params: { note_id: "note_20261130_101500_k3vq7a", old_str: "migration ran", new_str: "migration runs" },
      result: { note_id: "note_20261130_101500_k3vq7a", changed: true },
    },
  ],
  cli: { command: "edit", positional: ["note_id", "old_str", "new_str"] },
  async run(params, context) {
    const change = {
      kind: "edit" as const,
      noteId: noteId(params.note_id),
      oldStr: params.old_str,
      newStr: params.new_str,
      ...given({ ifRevision: params.if_revision }),
    };
    return updateAnswer(await write(change, params, context));
  },
});
