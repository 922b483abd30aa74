/** `notes.changes`: what a subscription would have sent, for callers that poll or catch up. */
import { z } from "zod";
import { Filters } from "../domain/filters.ts";
import { Status, Trust } from "../domain/note.ts";
import type { Changed, ChangesPage } from "../notebook/notebook.ts";
import { defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { given } from "./filter-inputs.ts";
import { atMost, limit } from "./inputs.ts";

const CEILING = 1000;

/** One change of one note, as `notes.changed` sends it. */
export const ChangedNote = z.strictObject({
  commit: z.string(),
  action: z.string(),
  note_id: z.string(),
  title: z.string(),
  type: z.string(),
  status: z.union([Status, z.string()]),
  tags: z.array(z.string()),
  fields: z.array(z.string()).describe("Metadata fields that changed, and content."),
  path: z.string(),
  revision: z.string().nullable().describe("Null: the note was removed."),
  agent_id: z.number().int().nullable(),
  agent_name: z.string().nullable(),
  author_name: z.string().describe("The commit's author: the agent, or which person."),
  reason: z.string().nullable(),
  source: z.enum(["api", "disk", "import", "push", "git"]),
  trust: z.union([Trust, z.string()]),
  via: z.enum(["live", "sync", "push"]),
  at: z.string(),
  cursor: z.string().optional().describe("Resume from here; only some changes have one."),
});

export const notesChanges = defineAction({
  name: "notes.changes",
  effects: "read",
  summary: "Changes since a cursor, a commit or a time.",
  description:
    "What changed since a cursor of an earlier call or subscription, since a commit or a time, or since last: the end of your previous session. Call again with cursor while more is true.",
  input: z.strictObject({
    since: z.string().min(1).max(1024).describe("A cursor, last, a commit, an ISO time, 7d, 12h or monday."),
    min_trust: Filters.min_trust.describe("Only changes of notes of this class or a higher one."),
    limit: limit(100, CEILING),
  }),
  output: z.strictObject({
    changes: z.array(ChangedNote),
    cursor: z.string().describe("since of the next call."),
    more: z.boolean(),
    squashed: z
      .literal(true)
      .optional()
      .describe("Steps in between are missing: only the difference is told."),
  }),
  errors: ["INVALID_PARAMS", "UNKNOWN_COMMIT"],
  examples: [{ name: "Of the last week", params: { since: "7d" }, result: { more: false } }],
  cli: { command: "changes", positional: ["since"] },
  async run(params, context) {
    const most = atMost(CEILING, params.limit);
    const filter = given({ minTrust: params.min_trust });
    const page = (count: number) => context.notebook.changes(params.since, count, filter, context.caller);
    let found: ChangesPage = await page(most);
    const fitting = rowsThatFit(found.changes);
    if (fitting < found.changes.length) found = await page(fitting);
    return {
      changes: found.changes.map(changedNote),
      cursor: found.cursor,
      more: found.more,
      ...(found.squashed ? { squashed: true as const } : {}),
    };
  },
});

const changedNote = (change: Changed): z.input<typeof ChangedNote> => ({
  ...change,
  tags: [...change.tags],
  fields: [...change.fields],
});
