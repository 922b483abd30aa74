/** `notes.subscribe`: be told of changes on this socket. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { connectionOf } from "./connection.ts";
import { FilterInputs, given, toFilter } from "./filter-inputs.ts";

const { since: _since, ...Narrowing } = FilterInputs;

export const notesSubscribe = defineAction({
  name: "notes.subscribe",
  effects: "session",
  summary: "Be told of changes as they happen, on this WebSocket.",
  description:
    "Start notes.changed notifications for notes that pass the filters. Keep the last cursor you saw: after a new connection since resumes there, with no gap and no repeat.",
  input: z.strictObject({
    ...Narrowing,
    since: z.string().min(1).max(1024).optional().describe("A cursor to resume from; default: from now on."),
  }),
  output: z.strictObject({ subscription_id: z.string(), cursor: z.string() }),
  errors: ["INVALID_REQUEST", "INVALID_PARAMS", "UNKNOWN_COMMIT", "OVERLOADED"],
  examples: [
    { name: "Blockers from now on", params: { note_type: "blocker" }, result: { subscription_id: "1" } },
  ],
  cli: null,
  async run(params, context) {
    const connection = connectionOf("notes.subscribe", context, "Poll notes.changes with a cursor instead");
    const { since, ...narrowing } = params;
    const filter = await toFilter(given(narrowing), context);
    return connection.subscribe(filter, since ?? null);
  },
});
