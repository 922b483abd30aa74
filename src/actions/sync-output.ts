/** What the actions of sync take and answer alike. */
import { z } from "zod";
import { SYNC_STATES } from "../domain/sync-state.ts";

const count = z.number().int().min(0);

export const remote = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe(
    "The name of a remote in the repository's Git config; git remote add NAME URL makes one. Default: the setting sync.remote.",
  );

export const SyncOutput = z.strictObject({
  remote: z.string().describe("Its name, or its URL without credentials."),
  state: z
    .enum(SYNC_STATES)
    .describe(
      "ok: both have the same. away: not reached, tried again. denied: a login is missing. refused: a rule there says no. broken: it sends what can't be taken. diverged: its history was rewritten, a person decides. busy: something here or there is in the way, tried again. waiting: not synced since the start.",
    ),
  ahead: count.describe("Commits that the remote lacked when last seen."),
  behind: count.describe("Commits that only the remote had."),
  pulled: count.describe("Commits taken in by this run."),
  pushed: count.describe("Commits given by this run."),
  conflicts: count.describe("Conflicts kept here; notes.conflicts lists them."),
  head: z.string().nullable(),
  message: z
    .string()
    .nullable()
    .describe("Why the state is not ok; with ok, what of the remote was left where it is."),
  at: z.string().nullable().describe("When it ended, ISO 8601."),
});
