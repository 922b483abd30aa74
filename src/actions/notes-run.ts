/**
 * `notes.run`: the seven actions of the HelloAgents NoteTool under its one name, with its own shapes, so
 * that an agent written for it runs unchanged. Rights and errors are those of the actions themselves.
 */
import { z } from "zod";
import type { NoteMetadata } from "../domain/note.ts";
import { type AnyAction, type Context, defineAction } from "./action.ts";
import { viewerOf } from "./filter-inputs.ts";
import { atMost } from "./inputs.ts";
import { parseParams } from "./invoke.ts";
import { notesCreate } from "./notes-create.ts";
import { notesDelete } from "./notes-delete.ts";
import { notesList } from "./notes-list.ts";
import { notesRead } from "./notes-read.ts";
import { notesSearch, searchResults, wanted } from "./notes-search.ts";
import { notesSummary } from "./notes-summary.ts";
import { notesUpdate } from "./notes-update.ts";

const RUN_ACTIONS = ["create", "read", "update", "search", "list", "summary", "delete"] as const;
type RunAction = (typeof RUN_ACTIONS)[number];

type Given = Readonly<Record<string, unknown>>;

export const notesRun = defineAction({
  name: "notes.run",
  effects: "destructive",
  summary: "The seven calls of the HelloAgents NoteTool, in its shapes.",
  description:
    "For agents written for the NoteTool: action is create, read, update, search, list, summary or delete, beside that action's parameters. create answers the id, read {metadata, content}, search and list a bare array, summary its counts, update and delete a line of text. Others use the single actions.",
  input: z.looseObject({ action: z.enum(RUN_ACTIONS) }),
  output: z.union([
    z.string(),
    z.array(z.record(z.string(), z.unknown())),
    z.record(z.string(), z.unknown()),
  ]),
  errors: [...new Set([...notesUpdate.errors, ...notesCreate.errors, ...notesRead.errors])],
  examples: [
    {
      name: "A literal search",
      params: { action: "search", query: "refresh token", limit: 5 },
      result: [{ note_id: "note_20261130_101500_k3vq7a" }],
    },
    { name: "A list", params: { action: "list" }, result: [{ id: "note_20261130_101500_k3vq7a" }] },
    { name: "The counts", params: { action: "summary" }, result: { total_notes: 1 } },
  ],
  cli: { command: "run", positional: ["action"] },
  async run({ action, ...params }, context) {
    return RUN[action](params, context);
  },
});

const RUN: Readonly<
  Record<
    RunAction,
    (params: Given, context: Context) => Promise<string | Record<string, unknown>[] | Record<string, unknown>>
  >
> = {
  async create(params, context) {
    return (await call(notesCreate, params, context)).note_id;
  },
  async read(params, context) {
    const { metadata, content } = await call(notesRead, params, context);
    return { metadata: { id: metadata.note_id, ...metadata }, content };
  },
  async update(params, context) {
    const { note_id } = await call(notesUpdate, params, context);
    return `Note updated: ${context.notebook.metadata(note_id)?.title ?? note_id}`;
  },
  async delete(params, context) {
    const { note_id, title } = await call(notesDelete, params, context);
    return `Note deleted: ${title ?? note_id}`;
  },
  search,
  async list(params, context) {
    return (await call(notesList, params, context)).notes.map(indexRow);
  },
  async summary(params, context) {
    const summary = await call(notesSummary, params, context);
    const recent = summary.recent_notes.map(({ note_id: id, title, type, updated_at }) => ({
      id,
      title,
      type,
      updated_at,
    }));
    return { ...summary, recent_notes: recent };
  },
};

/** The seed's search: literal, in title and body. */
async function search(given: Given, context: Context): Promise<Record<string, unknown>[]> {
  const params = parse(notesSearch, { ...given, mode: "substring" });
  const found = await context.notebook.search(
    {
      ...(await wanted(params, context)),
      mode: "substring",
      fields: "title-body",
      viewer: viewerOf(context.caller),
      limit: atMost(50, params.limit),
    },
    context.caller,
  );
  return searchResults(found.rows);
}

/** A row as the seed's index has it. */
function indexRow(note: z.infer<typeof NoteMetadata>): Record<string, unknown> {
  const { note_id: id, title, type, tags, created_at, updated_at, status, path: file_path } = note;
  return { id, title, type, tags, created_at, updated_at, status, file_path };
}

function parse<I extends z.ZodType>(action: { input: I } & AnyAction, params: Given): z.output<I> {
  // parseParams answers what this action's own schema made of the parameters.
  return parseParams(action, params) as z.output<I>;
}

async function call<I extends z.ZodType, R>(
  action: { input: I; run(input: z.output<I>, context: Context): Promise<R> } & AnyAction,
  params: Given,
  context: Context,
): Promise<R> {
  return action.run(parse(action, params), context);
}
