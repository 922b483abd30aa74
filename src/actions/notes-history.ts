/** `notes.history`: what happened to the notes, newest first. */
import { z } from "zod";
import { COMMIT_ACTIONS } from "../domain/event.ts";
import { Trust } from "../domain/note.ts";
import type { HistoryFilter } from "../index/note-index.ts";
import type { Notebook } from "../notebook/notebook.ts";
import { type Context, defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { FilterInputs, given, listOf } from "./filter-inputs.ts";
import { atMost, Cursor, limit, NoteIdInput, noteId } from "./inputs.ts";

const CEILING = 1000;
const SOURCES = ["api", "disk", "import", "push", "git"] as const;
const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1).max(64)]);

export const Entry = z.strictObject({
  commit: z.string(),
  note_id: z.string(),
  action: z.string(),
  title: z.string(),
  type: z.string().nullable(),
  agent_name: z.string().nullable(),
  author_name: z.string().describe("The commit's author: the agent, or which person."),
  source: z.enum(SOURCES),
  trust: Trust,
  session: z.string().nullable(),
  reason: z.string().nullable(),
  changes: z.string().nullable().describe("What changed, e.g. status: open → resolved; body +12 −3"),
  at: z.string(),
  revision: z.string().nullable().describe("Null: the note was removed."),
});

const Input = z.strictObject({
  note_id: NoteIdInput.optional(),
  filter_agent_id: FilterInputs.filter_agent_id,
  note_type: FilterInputs.note_type,
  tags: FilterInputs.tags,
  action: oneOrMany(z.enum([...COMMIT_ACTIONS, "rename"]))
    .optional()
    .describe("What was done; a list: any of these."),
  source: oneOrMany(z.enum(SOURCES)).optional().describe("Which way it came; a list: any of these."),
  session: z.string().min(1).max(200).optional().describe("What session.set named the connection."),
  min_trust: FilterInputs.min_trust.describe("Only changes of this class or a higher one."),
  since: FilterInputs.since,
  until: FilterInputs.until,
  limit: limit(50, CEILING),
  cursor: Cursor.optional(),
});

export const notesHistory = defineAction({
  name: "notes.history",
  effects: "read",
  summary: "What happened to a note, or to all: who, when, why.",
  description:
    "Commits that changed notes, newest first, with who made each, why (reason) and what changed. Deleted notes have a history too.",
  input: Input,
  output: z.strictObject({
    entries: z.array(Entry),
    next_cursor: z.string().nullable(),
    truncated: z
      .literal(true)
      .optional()
      .describe(
        "There is more: it would not fit, or it lies before the point where a shallow clone was cut.",
      ),
  }),
  errors: ["INVALID_PARAMS", "NOT_FOUND", "UNKNOWN_COMMIT"],
  examples: [
    {
      name: "Of one note",
      params: { note_id: "note_20261130_101500_k3vq7a" },
      result: {
        entries: [
          { note_id: "note_20261130_101500_k3vq7a", action: "update" },
          { note_id: "note_20261130_101500_k3vq7a", action: "create" },
        ],
        next_cursor: null,
      },
    },
  ],
  cli: { command: "history", positional: ["note_id"] },
  async run(params, context) {
    let filter = await historyFilter(params, context);
    const most = atMost(CEILING, params.limit);
    const cursor = params.cursor ?? null;
    let page = await context.notebook.history(filter, most, cursor);
    if (page.items.length === 0 && params.note_id !== undefined && cursor === null) {
      // A stem names a note too; what names none is NOT_FOUND and not an empty history.
      const resolved = await resolve(params.note_id, context);
      if (resolved !== params.note_id) {
        filter = { ...filter, noteId: noteId(resolved) };
        page = await context.notebook.history(filter, most, cursor);
      }
    }
    const fitting = rowsThatFit(page.items.map(entryOf));
    const cut = fitting < page.items.length;
    if (cut) page = await context.notebook.history(filter, fitting, cursor);
    return {
      entries: page.items.map(entryOf),
      next_cursor: page.nextCursor,
      ...(cut || page.isCut === true ? { truncated: true as const } : {}),
    };
  },
});

async function historyFilter(params: z.output<typeof Input>, context: Context): Promise<HistoryFilter> {
  const { notebook, caller } = context;
  const agents = params.filter_agent_id === undefined ? "all" : notebook.agentFilter(params.filter_agent_id);
  return given({
    noteId: params.note_id === undefined ? undefined : noteId(params.note_id),
    agentIds: agents === "all" ? undefined : agents,
    types: params.note_type === undefined ? undefined : listOf(params.note_type),
    tags: params.tags === undefined ? undefined : listOf(params.tags),
    actions: params.action === undefined ? undefined : listOf(params.action),
    sources: params.source === undefined ? undefined : listOf(params.source),
    session: params.session,
    minTrust: params.min_trust,
    sinceMs:
      params.since === undefined ? undefined : (await notebook.moment(params.since, caller, "since")).atMs,
    untilMs:
      params.until === undefined ? undefined : (await notebook.moment(params.until, caller, "until")).atMs,
  });
}

async function resolve(id: string, { notebook, caller }: Context): Promise<string> {
  // One that has expired has a history too.
  return notebook.metadata(id)?.note_id ?? (await notebook.read(id, caller)).metadata.note_id;
}

type HistoryItem = Awaited<ReturnType<Notebook["history"]>>["items"][number];

function entryOf(row: HistoryItem): z.output<typeof Entry> {
  return {
    commit: row.commit,
    note_id: row.noteId,
    action: row.action,
    title: row.title,
    type: row.type,
    agent_name: row.agentName,
    author_name: row.authorName,
    source: row.source,
    trust: row.trust,
    session: row.session,
    reason: row.reason,
    changes: row.changes,
    at: new Date(row.atMs).toISOString(),
    revision: row.revision,
  };
}
