/** `feedback.delete`: a rule of behaviour that no longer holds. */
import { z } from "zod";
import { memoryId } from "../../domain/identity.ts";
import { FEEDBACK } from "../../domain/memory/memory-key.ts";
import { defineAction } from "../action.ts";
import { WriteInputs } from "../inputs.ts";
import { ReplayFields, replayOf, WRITE_ERRORS, write } from "../write.ts";
import { MemoryNames, memoryNamed } from "./memory-inputs.ts";

export const feedbackDelete = defineAction({
  name: "feedback.delete",
  effects: "destructive",
  summary: "Delete a rule of how to behave; history keeps it.",
  description:
    "Delete the rule under a key. An agent deletes its own, and those of the workspace that it made itself; a person deletes any.",
  input: z.strictObject({ ...MemoryNames, ...WriteInputs }),
  output: z.strictObject({
    note_id: z.string(),
    key: z.string().optional(),
    commit: z.string(),
    path: z.string().nullable().optional().describe("Of a replayed request only."),
    revision: z.string().nullable().optional().describe("Of a replayed request only."),
    ...ReplayFields,
  }),
  errors: ["NOT_FOUND", "CONFLICT", ...WRITE_ERRORS],
  examples: [
    {
      name: "By its key",
      params: { key: "answer length", scope: "workspace", reason: "Not wanted any more" },
      result: { key: "answer length" },
    },
  ],
  cli: { command: "feedback delete", positional: ["key"] },
  async run(params, context) {
    const memory = memoryNamed("feedback.delete", params, context, FEEDBACK);
    const outcome = await write({ kind: "delete", noteId: memoryId(memory) }, params, context);
    if (outcome.replayed) return replayOf(outcome);
    return { note_id: outcome.noteId, key: memory.key.slice(FEEDBACK.length), commit: outcome.commit };
  },
});
