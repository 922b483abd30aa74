/** `daemon.verify`: hold the index against one rebuilt from Git. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";

export const daemonVerify = defineAction({
  name: "daemon.verify",
  effects: "read",
  summary: "Compare index, files and history.",
  description:
    "Rebuild the index from Git and compare it with the one in use, and files and blobs with both. For persons; takes seconds on a large notebook.",
  input: z.strictObject({}),
  output: z.strictObject({
    digest: z.string(),
    rebuilt: z.string(),
    equal: z.boolean(),
    problems: z.array(z.strictObject({ kind: z.string(), path: z.string(), detail: z.string() })),
    truncated: z.literal(true).optional().describe("There are more problems than shown."),
  }),
  errors: ["FORBIDDEN"],
  examples: [{ name: "All", params: {}, result: { equal: true, problems: [] } }],
  cli: null,
  async run(_params, { notebook }) {
    const verdict = await notebook.verify();
    const problems = verdict.problems.slice(0, rowsThatFit(verdict.problems));
    return {
      ...verdict,
      problems,
      ...(problems.length < verdict.problems.length ? { truncated: true as const } : {}),
    };
  },
});
