/** `notes.delete`: remove a note; history keeps it. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { given } from "./filter-inputs.ts";
import { AgentRef, IfRevision, NoteIdInput, noteId, WriteInputs } from "./inputs.ts";
import { ReplayFields, replayOf, WRITE_ERRORS, write } from "./write.ts";

export const notesDelete = defineAction({
  name: "notes.delete",
  effects: "destructive",
  summary: "Delete a note; history keeps it.",
  description:
    "Delete a note by id. An agent deletes what it wrote itself; a person deletes anything. The text stays in the history.",
  input: z.strictObject({
    note_id: NoteIdInput,
    target_agent_id: AgentRef.optional().describe(
      "The notebook that holds it. Persons must name it for agent, thread and person memory.",
    ),
    if_revision: IfRevision.optional(),
    ...WriteInputs,
  }),
  output: z.strictObject({
    note_id: z.string(),
    title: z.string().optional(),
    commit: z.string(),
    path: z.string().nullable().optional().describe("Of a replayed request only."),
    revision: z.string().nullable().optional().describe("Of a replayed request only."),
    ...ReplayFields,
  }),
  errors: ["NOT_FOUND", "CONFLICT", ...WRITE_ERRORS],
  examples: [
    {
      name: "By id",
      params: { note_id: "note_20261130_101500_k3vq7a", reason: "Superseded" },
      result: { note_id: "note_20261130_101500_k3vq7a", title: "Login returns 500: refresh token" },
    },
  ],
  cli: { command: "delete", positional: ["note_id"] },
  async run(params, context) {
    const change = {
      kind: "delete" as const,
      noteId: noteId(params.note_id),
      ...given({ ifRevision: params.if_revision }),
    };
    const outcome = await write(change, params, context);
    if (outcome.replayed) return replayOf(outcome);
    return { note_id: outcome.noteId, title: outcome.title, commit: outcome.commit };
  },
});
