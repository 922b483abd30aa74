/** `agent.token`: a token for an agent, made on its first use. */
import { z } from "zod";
import { parseAgentName } from "../domain/identity.ts";
import { defineAction } from "./action.ts";

export const agentToken = defineAction({
  name: "agent.token",
  effects: "write",
  summary: "Get a further token for an agent.",
  description:
    "For persons: a new token for the agent of this name, which is made when it doesn't exist. The token is shown once and kept by the caller; only its hash is stored.",
  input: z.strictObject({
    name: z.string().min(1).max(256).describe("1 to 64 characters, not only digits."),
    mcp: z.boolean().default(false).describe("The token is for an MCP client."),
    read_only: z.boolean().default(false).describe("The token reads and doesn't write."),
  }),
  output: z.strictObject({ agent: z.string(), agent_id: z.number().int(), token: z.string() }),
  errors: ["INVALID_PARAMS", "FORBIDDEN", "REPO_BUSY", "STORAGE"],
  examples: [{ name: "An agent called planner", params: { name: "planner" }, result: { agent: "planner" } }],
  cli: null,
  run: ({ name, mcp, read_only }, { daemon }) =>
    daemon.agentToken({ name: parseAgentName(name), mcp, readOnly: read_only }),
});
