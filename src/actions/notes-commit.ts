/** `notes.commit`: hand edits committed at once, instead of after their quiet time. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { WriteInputs } from "./inputs.ts";

export const notesCommit = defineAction({
  name: "notes.commit",
  effects: "write",
  summary: "Commit hand edits at once.",
  description:
    "For persons: commit what was saved in the working files and what still waits for its quiet time: of the given files, or all. The commits are the person's. Answers the commits made; none when nothing waited.",
  input: z.strictObject({
    paths: z
      .array(z.string().min(1).max(4096))
      .min(1)
      .max(1000)
      .optional()
      .describe("Files, relative to the repository; absent: every edited one."),
    reason: WriteInputs.reason,
  }),
  output: z.strictObject({ commits: z.array(z.string()).describe("Oldest first.") }),
  errors: ["INVALID_PARAMS", "FORBIDDEN", "REPO_BUSY", "STORAGE"],
  examples: [{ name: "All", params: {}, result: { commits: [] } }],
  cli: null,
  async run({ paths, reason }, { notebook }) {
    return { commits: [...(await notebook.settle(paths, reason))] };
  },
});
