/** `feedback.list`: the rules of behaviour that a caller sees. */
import { z } from "zod";
import { FEEDBACK } from "../../domain/memory/memory-key.ts";
import { Scope, Trust } from "../../domain/note.ts";
import { defineAction } from "../action.ts";
import { cutCharacters } from "../answer-size.ts";
import { atMost, limit } from "../inputs.ts";
import { fitting, RecallInputs, recall } from "./notes-recall.ts";

const CEILING = 200;

export const feedbackList = defineAction({
  name: "feedback.list",
  effects: "read",
  summary: "List the rules of how to behave.",
  description:
    "The rules that were saved with feedback.save, newest first. An agent sees its own notebook's and those of the workspace, a person everyone's; filter_agent_id names another notebook, or all. trust says who last wrote each.",
  input: z.strictObject({ ...RecallInputs, limit: limit(50, CEILING) }),
  output: z.strictObject({
    rules: z.array(
      z.strictObject({
        note_id: z.string(),
        key: z.string(),
        rule: z.string(),
        why: z.string().nullable(),
        how_to_apply: z.string().nullable(),
        scope: Scope,
        scope_ref_id: z.string().nullable(),
        agent_id: z.number().int().nullable(),
        agent_name: z.string().nullable(),
        trust: Trust,
        updated_at: z.string(),
        truncated: z.literal(true).optional().describe("rule was cut; notes.read gives all."),
      }),
    ),
  }),
  errors: ["INVALID_PARAMS"],
  examples: [
    {
      name: "All in sight",
      params: {},
      result: { rules: [{ key: "answer length", rule: "At most ten lines." }] },
    },
  ],
  cli: { command: "feedback list", positional: [] },
  async run(params, context) {
    const rows = recall(params, atMost(CEILING, params.limit), FEEDBACK, context);
    const rules = fitting(rows, ({ note, value }, most) => {
      const { text, cut } = cutCharacters(value, most);
      return {
        note_id: note.note_id,
        key: (note.key ?? "").slice(FEEDBACK.length),
        rule: text,
        why: textIn(note.extra, "why"),
        how_to_apply: textIn(note.extra, "how_to_apply"),
        scope: note.scope,
        scope_ref_id: note.scope_ref_id,
        agent_id: note.agent_id,
        agent_name: note.agent_name,
        trust: note.trust,
        updated_at: note.updated_at,
        ...(cut ? { truncated: true as const } : {}),
      };
    });
    return { rules };
  },
});

/** A person may have written anything there. */
function textIn(extra: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = Object.hasOwn(extra, key) ? extra[key] : null;
  return value === null || value === undefined
    ? null
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}
