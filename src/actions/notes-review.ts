/** `notes.review`: what a person should know since they last looked. */
import { z } from "zod";
import { Trust } from "../domain/note.ts";
import type { Reviewed } from "../notebook/review/review.ts";
import { defineAction } from "./action.ts";
import { atMost, limit, MomentInput } from "./inputs.ts";
import { Entry } from "./notes-history.ts";

const CEILING = 100;

const Row = z.strictObject({
  note_id: z.string(),
  title: z.string(),
  type: z.string(),
  status: z.string().describe("Now; deleted: it is gone."),
  commit: z.string().describe("The step that tells of it, and by whom, when and why it was done."),
  action: z.string(),
  agent_name: z.string().nullable(),
  author_name: Entry.shape.author_name,
  source: Entry.shape.source,
  trust: Trust,
  at: z.string(),
  reason: z.string().nullable(),
});

export const notesReview = defineAction({
  name: "notes.review",
  effects: "read",
  summary: "What a person should know since they last looked.",
  description:
    "What was decided and why, blockers that came and went, people's text that agents took away or rewrote, deleted notes, kept conflicts: since a moment, else since the person's mark, else of the last 7 days. mark keeps what was shown as seen.",
  input: z.strictObject({
    since: MomentInput.optional().describe(
      "A commit, an ISO time, 7d, 12h, monday or last; absent: your mark.",
    ),
    mark: z
      .boolean()
      .default(false)
      .describe("Persons only: keep this as seen. The mark travels with the branch."),
    limit: limit(20, CEILING),
  }),
  output: z.strictObject({
    since: z.strictObject({
      commit: z.string().nullable(),
      at: z.string(),
      from: z.enum(["mark", "given", "week"]),
    }),
    head: z.string().nullable(),
    writes: z.number().int(),
    notes: z.number().int().describe("How many changed."),
    by: z.array(z.strictObject({ name: z.string(), agent: z.boolean(), writes: z.number().int() })),
    conflicts: z.array(z.strictObject({ note_id: z.string(), path: z.string(), since: z.string() })),
    new_blockers: z.array(Row).describe("Open now and not then."),
    conclusions: z.array(
      Row.extend({ new: z.boolean(), excerpt: z.string().describe("The first line that says something.") }),
    ),
    closed_blockers: z.array(Row),
    edits: z
      .array(
        Row.extend({
          lines: z.number().int().describe("How many lines of people's went."),
          first: z.string().describe("The first of them."),
        }),
      )
      .describe("Notes in which agents took away or rewrote lines that people wrote."),
    deleted: z.array(Row),
    omitted: z.record(z.string(), z.number().int()).describe("How many more each list would have."),
    marked: z.boolean(),
  }),
  errors: ["INVALID_PARAMS", "FORBIDDEN", "UNKNOWN_COMMIT", "REPO_BUSY", "STORAGE"],
  examples: [
    {
      name: "Since monday, at most 20 of each",
      params: { since: "monday" },
      result: { since: { from: "given" }, conclusions: [], marked: false },
    },
  ],
  cli: { command: "review", positional: [] },
  async run({ since, mark, limit: wanted }, { notebook, caller }) {
    const found = await notebook.review(since, mark, caller);
    const most = atMost(CEILING, wanted);
    const omitted: Record<string, number> = {};
    const first = <T>(name: string, rows: readonly T[]): readonly T[] => {
      if (rows.length > most) omitted[name] = rows.length - most;
      return rows.slice(0, most);
    };
    const lists = {
      by: first("by", found.by).map(({ name, isAgent, writes }) => ({ name, agent: isAgent, writes })),
      conflicts: first("conflicts", found.conflicts).map(({ note_id, path, since: at }) => ({
        note_id,
        path,
        since: at,
      })),
      new_blockers: first("new_blockers", found.opened).map(row),
      conclusions: first("conclusions", found.conclusions).map((one) => ({
        ...row(one),
        new: one.isNew,
        excerpt: one.excerpt,
      })),
      closed_blockers: first("closed_blockers", found.closed).map(row),
      edits: first("edits", found.edits).map((one) => ({
        ...row(one),
        lines: one.lines,
        first: one.first.slice(0, FIRST_CHARS),
      })),
      deleted: first("deleted", found.deleted).map(row),
    };
    const { head, writes, notes, marked } = found;
    return { since: { ...found.since }, head, writes, notes, ...lists, omitted, marked };
  },
});

const FIRST_CHARS = 200;

function row(one: Reviewed): z.input<typeof Row> {
  return {
    note_id: one.noteId,
    title: one.title,
    type: one.type,
    status: one.status,
    commit: one.commit,
    action: one.action,
    agent_name: one.agentName,
    author_name: one.authorName,
    source: one.source,
    trust: one.trust,
    at: one.at,
    reason: one.reason,
  };
}
