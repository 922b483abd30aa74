/** `rpc.discover`: the OpenRPC document of everything here. */
import { z } from "zod";
import { defineAction } from "./action.ts";

export const rpcDiscover = defineAction({
  name: "rpc.discover",
  effects: "read",
  summary: "The OpenRPC document of this daemon.",
  description: "Every method with the JSON Schema of its parameters and its result, as OpenRPC describes it.",
  input: z.strictObject({}),
  output: z.looseObject({ openrpc: z.string() }),
  errors: [],
  examples: [{ name: "All", params: {}, result: {} }],
  cli: null,
  // The document is made by describe.ts, which has this member.
  run: async (_params, { daemon }) => daemon.openrpc() as { openrpc: string },
});
