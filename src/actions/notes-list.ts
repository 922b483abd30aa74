/** `notes.list`: metadata of many notes, newest update first. */
import { z } from "zod";
import { NoteMetadata } from "../domain/note.ts";
import { defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { FilterInputs, toFilter, viewerOf } from "./filter-inputs.ts";
import { atMost, Cursor, limit } from "./inputs.ts";

const CEILING = 1000;

export const notesList = defineAction({
  name: "notes.list",
  effects: "read",
  summary: "List notes by metadata, newest update first.",
  description:
    "List the metadata of notes that pass the filters. next_cursor gives the next page; a page may hold fewer than limit when it would get too large.",
  input: z.strictObject({ ...FilterInputs, limit: limit(20, CEILING), cursor: Cursor.optional() }),
  output: z.strictObject({
    notes: z.array(NoteMetadata),
    total: z.number().int().describe("All that pass, on every page."),
    next_cursor: z.string().nullable(),
  }),
  errors: ["INVALID_PARAMS", "UNKNOWN_COMMIT"],
  examples: [
    {
      name: "Open blockers",
      params: { note_type: "blocker", status: "open" },
      result: { total: 1, next_cursor: null, notes: [{ note_id: "note_20261130_101500_k3vq7a" }] },
    },
  ],
  cli: { command: "list", positional: [] },
  async run(params, context) {
    const filter = await toFilter(params, context);
    const page = (most: number) =>
      context.notebook.list({
        filter,
        viewer: viewerOf(context.caller),
        limit: most,
        cursor: params.cursor ?? null,
      });
    const most = atMost(CEILING, params.limit);
    let found = page(most);
    const fitting = rowsThatFit(found.items);
    if (fitting < found.items.length) found = page(fitting);
    return { notes: [...found.items], total: found.total, next_cursor: found.nextCursor };
  },
});
