/** `notes.diff`: what changed in a note between two moments, front matter included. */
import { z } from "zod";
import { unifiedDiff } from "../domain/unified-diff.ts";
import { defineAction } from "./action.ts";
import { cutJsonBytes, RESULT_BYTES } from "./answer-size.ts";
import { MomentInput, NoteIdInput } from "./inputs.ts";

export const notesDiff = defineAction({
  name: "notes.diff",
  effects: "read",
  summary: "What changed in a note between two moments, as a unified diff.",
  description:
    "The difference of a note's file between two moments, front matter included, in the form that git apply takes. Without from and to: its last change. Deleted and renamed notes too. Empty when nothing differs.",
  input: z.strictObject({
    note_id: NoteIdInput,
    from: MomentInput.optional().describe(
      "A commit, an ISO time, 7d, 12h, monday or last; absent: before the last change by to.",
    ),
    to: MomentInput.optional().describe("As from; absent: now."),
  }),
  output: z.strictObject({
    from: z.string().nullable().describe("The commit; null: before the first."),
    to: z.string().nullable(),
    unified: z.string(),
    truncated: z.literal(true).optional().describe("unified was cut."),
  }),
  errors: ["INVALID_PARAMS", "NOT_FOUND", "UNKNOWN_COMMIT"],
  examples: [
    { name: "The last change", params: { note_id: "note_20261130_101500_k3vq7a" }, result: {} },
    { name: "Since a week", params: { note_id: "note_20261130_101500_k3vq7a", from: "7d" }, result: {} },
  ],
  cli: { command: "diff", positional: ["note_id"] },
  async run({ note_id, from, to }, { notebook, caller }) {
    const sides = await notebook.sides(note_id, from, to, caller);
    const { text, cut } = cutJsonBytes(unifiedDiff(sides.before, sides.after), RESULT_BYTES);
    return { from: sides.from, to: sides.to, unified: text, ...(cut ? { truncated: true as const } : {}) };
  },
});
