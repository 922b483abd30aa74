/** `notes.summary`: the notebook in a few numbers. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { viewerOf } from "./filter-inputs.ts";

const Counts = z.record(z.string(), z.number().int());

export const notesSummary = defineAction({
  name: "notes.summary",
  effects: "read",
  summary: "Counts of the notes, the newest five and the open blockers.",
  description:
    "How many notes there are by type, status, scope and agent, what changed last, and what blocks.",
  input: z.strictObject({}),
  output: z.strictObject({
    total_notes: z.number().int(),
    type_distribution: Counts,
    recent_notes: z.array(
      z.strictObject({ note_id: z.string(), title: z.string(), type: z.string(), updated_at: z.string() }),
    ),
    by_status: Counts,
    by_scope: Counts,
    by_agent: Counts,
    open_blockers: z.array(
      z.strictObject({ note_id: z.string(), title: z.string(), updated_at: z.string() }),
    ),
  }),
  errors: [],
  examples: [{ name: "All", params: {}, result: { total_notes: 1, type_distribution: { blocker: 1 } } }],
  cli: { command: "summary", positional: [] },
  async run(_params, context) {
    const summary = context.notebook.summary(viewerOf(context.caller));
    const blockers = summary.open_blockers;
    // The other half of an answer is ample for the counts.
    const shown = blockers.slice(0, rowsThatFit(blockers, 450_000));
    return {
      ...summary,
      type_distribution: { ...summary.type_distribution },
      recent_notes: [...summary.recent_notes],
      by_status: { ...summary.by_status },
      by_scope: { ...summary.by_scope },
      by_agent: { ...summary.by_agent },
      open_blockers: shown,
    };
  },
});
