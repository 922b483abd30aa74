/** `session.set`: name what the caller is doing on this socket. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { connectionOf } from "./connection.ts";
import { oneLine } from "./inputs.ts";

export const sessionSet = defineAction({
  name: "session.set",
  effects: "session",
  summary: "Name this connection's session.",
  description:
    "Name the session once after connecting. Its name stands in the commits that this connection makes, and notes.history finds them by it.",
  input: z.strictObject({
    session: oneLine(1, 128).describe("One line, 1 to 128 characters."),
    task: oneLine(0, 300).optional().describe("What the session is about."),
  }),
  output: z.strictObject({}),
  errors: ["INVALID_REQUEST", "INVALID_PARAMS"],
  examples: [
    { name: "A name and a task", params: { session: "2026-11-30-a", task: "Release 1.2" }, result: {} },
  ],
  cli: null,
  async run({ session, task = null }, context) {
    const connection = connectionOf("session.set", context, "Over HTTP each request stands alone");
    connection.setSession(session, task);
    context.notebook.seen({ ...context.caller, session, task });
    return {};
  },
});
