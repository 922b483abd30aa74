/** `sync.run`: bring this repository and a remote level. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { remote, SyncOutput } from "./sync-output.ts";

export const syncRun = defineAction({
  name: "sync.run",
  effects: "write",
  summary: "Bring this repository and a remote level.",
  description:
    "Fetch, merge note by note, push, and again when somebody was quicker. Nothing is forced. Only remotes that the repository's Git config names are synced with, and the one that is set: git remote add NAME URL makes one. Where the remote's history was rewritten the state is diverged and nothing moves, until a person says which history stands.",
  input: z.strictObject({
    remote,
    diverged: z
      .enum(["accept_remote", "keep_local"])
      .optional()
      .describe(
        "The way out of diverged. accept_remote: the branch takes the remote's history over; what only it had stays under refs/notesd/backup. keep_local: a merge commit of both that holds what this side holds is pushed.",
      ),
  }),
  output: SyncOutput,
  errors: ["FORBIDDEN", "NOT_CONFIGURED", "INVALID_PARAMS"],
  examples: [{ name: "The remote that is set", params: {}, result: { remote: "origin", state: "ok" } }],
  cli: null,
  run: ({ remote: name, diverged }, { daemon }) =>
    daemon.sync.run({
      ...(name === undefined ? {} : { remote: name }),
      ...(diverged === undefined ? {} : { diverged }),
    }),
});
