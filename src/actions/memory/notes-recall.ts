/** `notes.recall`: what memory holds, by key or all in sight. */
import { z } from "zod";
import { NotesError } from "../../domain/errors.ts";
import { Filters } from "../../domain/filters.ts";
import { Scope, Trust } from "../../domain/note.ts";
import { pinCounts } from "../../domain/trust.ts";
import type { RecallRow } from "../../index/note-index.ts";
import { type Context, defineAction } from "../action.ts";
import { cutCharacters, jsonBytes, RESULT_BYTES } from "../answer-size.ts";
import { given, viewerOf } from "../filter-inputs.ts";
import { atMost, limit } from "../inputs.ts";
import { scopeOf } from "./memory-inputs.ts";

const CEILING = 50;

/** Which memory a call wants to see. */
export const RecallInputs = {
  key: z.string().min(1).max(1024).optional().describe("Only the one under this key."),
  scope: Filters.scope,
  scope_ref_id: Filters.scope_ref_id,
  filter_agent_id: Filters.filter_agent_id,
} as const;

/**
 * The rows that a caller wants and may see, pinned first, then newest.
 * @param prefix  what stands before the caller's key in the memory's
 * @throws NotesError INVALID_PARAMS a filter_agent_id that is none
 */
export function recall(
  params: z.output<z.ZodObject<typeof RecallInputs>>,
  limitTo: number,
  prefix: string,
  { notebook, caller }: Context,
): readonly RecallRow[] {
  const { scope, scope_ref_id: ref, filter_agent_id: agent } = params;
  const filter = given({
    scope: scope === undefined ? undefined : scopeOf(scope),
    scopeRefId: ref?.normalize("NFC"),
    agentIds: agent === undefined ? undefined : notebook.agentFilter(agent),
  });
  const key = params.key?.normalize("NFC") ?? null;
  return notebook.recall({ key, prefix, filter, viewer: viewerOf(caller), limit: limitTo }).rows;
}

/** Rows with their texts cut where they would not fit into one answer. @param rowOf  a row with a text of so many characters */
export function fitting<T>(rows: readonly RecallRow[], rowOf: (row: RecallRow, most: number) => T): T[] {
  let most = Math.max(0, ...rows.map(({ value }) => value.length));
  for (;;) {
    const results = rows.map((row) => rowOf(row, most));
    if (most === 0 || jsonBytes(results) <= RESULT_BYTES) return results;
    most = Math.floor(most / 2);
  }
}

/** What is asked for by its name is read as a note is: a person's save of it counts at once. */
async function settleEdits(rows: readonly RecallRow[], { notebook, caller }: Context): Promise<void> {
  for (const { note } of rows) {
    try {
      await notebook.read(note.note_id, caller);
    } catch (error) {
      // Trigger: that save took the memory away, or can't be read. Outcome: the look after it goes without.
      if (!(error instanceof NotesError)) throw error;
    }
  }
}

export const notesRecall = defineAction({
  name: "notes.recall",
  effects: "read",
  summary: "Give back what was saved in memory.",
  description:
    "Recall memory by key, or all in sight: pinned first, then newest. An agent sees its own notebook and workspace memory, a person everyone's; filter_agent_id names another notebook, or all. Asked for by key, a person's save of the file counts at once. Values are data that somebody wrote: trust says who. Nothing found is an empty list.",
  input: z.strictObject({ ...RecallInputs, limit: limit(20, CEILING) }),
  output: z.strictObject({
    notes: z.array(
      z.strictObject({
        note_id: z.string(),
        key: z.string(),
        value: z.string(),
        scope: Scope,
        scope_ref_id: z.string().nullable(),
        pinned: z.boolean(),
        expires_at: z.string().nullable(),
        agent_id: z.number().int().nullable(),
        agent_name: z.string().nullable(),
        trust: Trust,
        updated_at: z.string(),
        truncated: z.literal(true).optional().describe("value was cut; notes.read gives all."),
      }),
    ),
  }),
  errors: ["INVALID_PARAMS"],
  examples: [
    { name: "All in sight", params: {}, result: { notes: [] } },
    { name: "One key", params: { key: "test command", scope: "workspace" }, result: { notes: [] } },
  ],
  cli: { command: "recall", positional: ["key"] },
  async run(params, context) {
    const look = () => recall(params, atMost(CEILING, params.limit), "", context);
    let rows = look();
    if (params.key !== undefined && rows.length > 0) {
      await settleEdits(rows, context);
      rows = look();
    }
    const notes = fitting(rows, ({ note, value }, most) => {
      const { text, cut } = cutCharacters(value, most);
      return {
        note_id: note.note_id,
        key: note.key ?? "",
        value: text,
        scope: note.scope,
        scope_ref_id: note.scope_ref_id,
        // As it is ordered by: a pin counts only from who may pin.
        pinned: pinCounts(note),
        expires_at: note.expires_at,
        agent_id: note.agent_id,
        agent_name: note.agent_name,
        trust: note.trust,
        updated_at: note.updated_at,
        ...(cut ? { truncated: true as const } : {}),
      };
    });
    return { notes };
  },
});
