/** `notes.search`: notes that match a query, with their text. */
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import type { NoteFilter } from "../domain/filters.ts";
import { Scope, Status, Trust } from "../domain/note.ts";
import type { SearchRow } from "../index/note-index.ts";
import { type Context, defineAction } from "./action.ts";
import { cutCharacters, jsonBytes, RESULT_BYTES } from "./answer-size.ts";
import { FilterInputs, toFilter, viewerOf } from "./filter-inputs.ts";
import { atMost, limit } from "./inputs.ts";
import { invalidParams } from "./issues.ts";

const CEILING = 50;
const CONTENT_CHARACTERS = 4000;

const SearchResult = z.strictObject({
  note_id: z.string(),
  title: z.string(),
  type: z.string(),
  status: Status,
  tags: z.array(z.string()),
  content: z.string().describe("At most 4,000 characters; notes.read gives all."),
  updated_at: z.string(),
  score: z.number(),
  snippet: z.string().describe("The hit with its surroundings."),
  key: z.string().nullable(),
  scope: Scope,
  agent_id: z.number().int().nullable(),
  agent_name: z.string().nullable(),
  trust: Trust,
  truncated: z.literal(true).optional().describe("content was cut."),
});

const Input = z.strictObject({
  query: z.string().max(4000).optional().describe("What to look for; any language."),
  mode: z
    .enum(["ranked", "substring", "semantic", "hybrid"])
    .default("ranked")
    .describe("How to compare: by words, or a literal piece; semantic and hybrid need an embedder."),
  ...FilterInputs,
  limit: limit(10, CEILING),
  at: z.string().min(1).max(128).optional().describe("Search the notes as they were then."),
});

export const notesSearch = defineAction({
  name: "notes.search",
  effects: "read",
  summary: "Search notes by words or by a literal piece of text.",
  description:
    "Search title, text and tags. ranked (default) finds notes by their words, best first; substring finds a literal piece of text. Without a query the filters alone decide, newest first; one of both is needed.",
  input: Input,
  output: z.strictObject({
    results: z.array(SearchResult),
    total: z.number().int(),
    index: z.string().optional().describe("Set while the index is not complete."),
  }),
  errors: ["INVALID_PARAMS", "UNKNOWN_COMMIT", "NOT_CONFIGURED"],
  examples: [
    {
      name: "By words, open ones only",
      params: { query: "refresh token", status: "open" },
      result: { total: 1, results: [{ note_id: "note_20261130_101500_k3vq7a" }] },
    },
    {
      name: "A literal piece of text",
      params: { query: "no such text", mode: "substring" },
      result: { total: 0 },
    },
  ],
  cli: { command: "search", positional: ["query"] },
  async run(params, context) {
    const { mode, at } = params;
    if (mode === "semantic" || mode === "hybrid") {
      throw new NotesError(
        "NOT_CONFIGURED",
        `mode ${mode} needs an embedder; set embedder, or use mode ranked.`,
        {
          setting: "embedder",
        },
      );
    }
    const { query, filter } = await wanted(params, context);
    const found = await context.notebook.search(
      {
        query,
        mode,
        fields: "title-body-tags",
        filter,
        viewer: viewerOf(context.caller),
        limit: atMost(CEILING, params.limit),
        ...(at === undefined ? {} : { at }),
      },
      context.caller,
    );
    return { results: searchResults(found.rows), total: found.total };
  },
});

/**
 * What a search looks for: words, filters, or both.
 *
 * @throws NotesError INVALID_PARAMS neither was given
 */
export async function wanted(
  params: z.output<typeof Input>,
  context: Context,
): Promise<{ query: string | null; filter: NoteFilter }> {
  const query = params.query?.trim() ? params.query : null;
  const filter = await toFilter(params, context);
  if (query !== null || Object.keys(filter).length > 0) return { query, filter };
  throw invalidParams("notes.search", [{ path: "query", message: "is needed when there is no filter" }]);
}

/** Rows with their texts cut, further than usual when they would not fit into one answer. */
export function searchResults(rows: readonly SearchRow[]): z.output<typeof SearchResult>[] {
  for (let most = CONTENT_CHARACTERS; ; most = Math.floor(most / 2)) {
    const results = rows.map((row) => searchResult(row, most));
    if (most === 0 || jsonBytes(results) <= RESULT_BYTES) return results;
  }
}

function searchResult(
  { note, content, score, snippet }: SearchRow,
  most: number,
): z.output<typeof SearchResult> {
  const { text, cut } = cutCharacters(content, most);
  return {
    note_id: note.note_id,
    title: note.title,
    type: note.type,
    status: note.status,
    tags: note.tags,
    content: text,
    updated_at: note.updated_at,
    score,
    snippet,
    key: note.key,
    scope: note.scope,
    agent_id: note.agent_id,
    agent_name: note.agent_name,
    trust: note.trust,
    ...(cut ? { truncated: true as const } : {}),
  };
}
