/**
 * `pre-commit`: a commit while files or Git index lag behind a write that is on the branch would take the note out
 * again. So the daemon puts them level first; what it can't put level in time is refused, and so is a commit while a
 * write that a dead daemon began is not carried out.
 * A secret that is staged in a note is refused as well, and a file that misses what the branch has gained.
 *
 * @see spec: storage, section 3 (Start)
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { GitPlace } from "../../lib/git-dir.ts";
import { processLockHolder } from "../../lib/process-lock.ts";
import { publishedIntents } from "../../store/recovery/published-intents.ts";
import { askDaemon } from "./ask-daemon.ts";
import { hookGit } from "./hook-git.ts";
import { partedRefusal } from "./parted-notes.ts";
import { stagedSecrets } from "./staged-secrets.ts";

const WAIT_MS = 1_000;
const POLL_MS = 20;

/** @param env of the hook @returns why to refuse; null: the commit may go on */
export async function preCommit(place: GitPlace, env: NodeJS.ProcessEnv): Promise<string | null> {
  return (await openWrite(place)) ?? (await stagedSecrets(place, env)) ?? (await lag(place, env));
}

/** Wait for writes whose files are being placed. @returns why to refuse; null: none is open */
async function openWrite(place: GitPlace): Promise<string | null> {
  const startedMs = Date.now();
  for (;;) {
    if ((await publishedIntents(place.gitDir)) === 0) return null;
    const alive = (await processLockHolder(join(place.gitDir, "notesd"))) !== null;
    if (!alive)
      return "notesd ended in the middle of a write. Run notesd recover (or notesd start), then commit again.\n";
    if (Date.now() - startedMs > WAIT_MS)
      return "notesd is still placing files of a write that is on the branch already. Commit again in a moment.\n";
    await pause(POLL_MS);
  }
}

const Answer = z.object({
  lagging: z.array(z.string()),
  /** A daemon of an earlier version tells of none. */
  parted: z.array(z.string()).default([]),
});

/** Ask the daemon to put files and index level. @returns why to refuse; null: they are, or nobody is there */
async function lag(place: GitPlace, env: NodeJS.ProcessEnv): Promise<string | null> {
  let told: z.infer<typeof Answer>;
  try {
    const answer = await askDaemon(place, "/hooks/pre-commit", {}, WAIT_MS);
    if (answer === null) return null;
    told = Answer.parse(answer);
  } catch {
    // Trigger: the daemon is busy, or waits for the lock that this commit holds. Why: a note might be lost. Outcome: refused.
    return "notesd could not put the index level with its notes in time. Commit again in a moment.\n";
  }
  const { lagging, parted } = told;
  if (lagging.length > 0)
    return `The index lags behind notes that notesd wrote meanwhile (${lagging.slice(0, 3).join(", ")}). Commit again in a moment.\n`;
  return parted.length === 0 ? null : partedRefusal(hookGit(place, env), parted);
}
