/** `notes.commit`: hand edits committed at once, instead of after their quiet time. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { WriteInputs } from "./inputs.ts";
import { SecretMatchOutput } from "./secret-output.ts";

const WHY = ["staged", "manual", "conflict", "secret"] as const;
const HELD_BYTES = 400_000;

export const notesCommit = defineAction({
  name: "notes.commit",
  effects: "write",
  summary: "Commit hand edits at once.",
  description:
    "For persons: commit what was saved in the working files and what still waits for its quiet time: of the given files, or all. The commits are the person's. Answers the commits made, none when nothing waited, and what stays uncommitted all the same: what is staged, and what holds a secret.",
  input: z.strictObject({
    paths: z
      .array(z.string().min(1).max(4096))
      .min(1)
      .max(1000)
      .optional()
      .describe("Files, relative to the repository; absent: every edited one."),
    reason: WriteInputs.reason,
  }),
  output: z.strictObject({
    commits: z.array(z.string()).describe("Oldest first."),
    held: z
      .array(z.strictObject({ path: z.string(), why: z.enum(WHY), matches: z.array(SecretMatchOutput) }))
      .optional()
      .describe("Files that stay uncommitted, and why; absent: none."),
    truncated: z.literal(true).optional().describe("More files are held than are shown."),
  }),
  errors: ["INVALID_PARAMS", "FORBIDDEN", "SECRET_REFUSED", "REPO_BUSY", "STORAGE"],
  examples: [{ name: "All", params: {}, result: { commits: [] } }],
  cli: null,
  async run({ paths, reason }, { notebook }) {
    const commits = [...(await notebook.settle(paths, reason))];
    const held = notebook.held(paths).map((file) => ({ ...file, matches: [...file.matches] }));
    const shown = held.slice(0, rowsThatFit(held, HELD_BYTES));
    return {
      commits,
      ...(held.length > 0 ? { held: shown } : {}),
      ...(shown.length < held.length ? { truncated: true as const } : {}),
    };
  },
});
