/** `notes.append`: text at the end of a note, or of one of its sections. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { given } from "./filter-inputs.ts";
import { IfRevision, NoteIdInput, noteId, WriteInputs } from "./inputs.ts";
import { UpdateOutput, updateAnswer, WRITE_ERRORS, write } from "./write.ts";

export const notesAppend = defineAction({
  name: "notes.append",
  effects: "write",
  summary: "Add text at the end of a note or of a section.",
  description:
    "Append Markdown to a note, or with heading to the end of that section. Two agents that append at once both keep their text.",
  input: z.strictObject({
    note_id: NoteIdInput,
    content: z.string().min(1).describe("Markdown to add."),
    heading: z.string().min(1).max(512).optional().describe("The section to add it to."),
    if_revision: IfRevision.optional(),
    ...WriteInputs,
  }),
  output: UpdateOutput,
  errors: ["NOT_FOUND", "CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS],
  examples: [
    {
      name: "One more finding",
      params: { note_id: "note_20261130_101500_k3vq7a", content: "Seen on staging too.\n" },
      result: { note_id: "note_20261130_101500_k3vq7a", changed: true },
    },
  ],
  cli: { command: "append", positional: ["note_id", "content"] },
  async run(params, context) {
    const change = {
      kind: "append" as const,
      noteId: noteId(params.note_id),
      content: params.content,
      ...given({ heading: params.heading, ifRevision: params.if_revision }),
    };
    return updateAnswer(await write(change, params, context));
  },
});
