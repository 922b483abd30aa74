/** `notes.restore`: a note as it was, again; a deleted one too. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { MomentInput, NoteIdInput, WriteInputs } from "./inputs.ts";
import { permitRestore } from "./rights.ts";
import { replayed, UpdateOutput, updateAnswer, WRITE_ERRORS, write } from "./write.ts";

export const notesRestore = defineAction({
  name: "notes.restore",
  effects: "write",
  summary: "Bring a note back as it was at a commit or a time.",
  description:
    "Bring back a note's text and metadata as they were, as a new revision at its old path; nothing of the history is lost. A deleted note comes back for those who may delete it. An expiry that has passed is left out.",
  input: z.strictObject({
    note_id: NoteIdInput,
    at: MomentInput.describe("When it was as it shall be: a commit, an ISO time, 7d, 12h, monday or last."),
    ...WriteInputs,
  }),
  output: UpdateOutput,
  errors: ["NOT_FOUND", "UNKNOWN_COMMIT", "CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS],
  examples: [
    {
      name: "As it was a week ago",
      params: {
        note_id: "note_20261130_101500_k3vq7a",
        at: "7d",
        reason: "The cause was right the first time",
      },
      result: { note_id: "note_20261130_101500_k3vq7a", changed: true, merged: false },
    },
  ],
  cli: { command: "restore", positional: ["note_id", "at"] },
  async run(params, context) {
    const before = replayed(params, context);
    if (before !== null) return updateAnswer(before);
    const then = await context.notebook.noteThen(params.note_id, params.at, context.caller);
    const { noteId, path, revision } = then;
    const change = { kind: "restore" as const, noteId, path, revision };
    return updateAnswer(await write(change, params, context, permitRestore(then, context)));
  },
});
