/** `sync.status`: how this repository and a remote stand. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { remote, SyncOutput } from "./sync-output.ts";

export const syncStatus = defineAction({
  name: "sync.status",
  effects: "read",
  summary: "How this repository and a remote stand.",
  description: "The last sync's outcome, and how far the two are apart by what is known here. Asks nobody.",
  input: z.strictObject({ remote }),
  output: SyncOutput,
  errors: ["NOT_CONFIGURED", "INVALID_PARAMS"],
  examples: [{ name: "The remote that is set", params: {}, result: { remote: "origin", behind: 0 } }],
  cli: null,
  run: ({ remote: name }, { daemon }) => daemon.sync.status(name),
});
