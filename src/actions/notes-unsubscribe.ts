/** `notes.unsubscribe`: end a subscription of this socket. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { connectionOf } from "./connection.ts";

export const notesUnsubscribe = defineAction({
  name: "notes.unsubscribe",
  effects: "session",
  summary: "End a subscription of this WebSocket.",
  description: "Stop the notifications of one subscription; after the answer none of it follows.",
  input: z.strictObject({ subscription_id: z.string().min(1).max(64) }),
  output: z.strictObject({}),
  errors: ["INVALID_REQUEST", "INVALID_PARAMS", "NOT_FOUND"],
  examples: [{ name: "By its id", params: { subscription_id: "1" }, result: {} }],
  cli: null,
  async run(params, context) {
    connectionOf("notes.unsubscribe", context, "There are no subscriptions over HTTP").unsubscribe(
      params.subscription_id,
    );
    return {};
  },
});
