/**
 * What `<gitdir>/notesd/hooks` asks of this program. `pre-commit`: a commit while a published write is not yet
 * in the Git index would take the note out again, so it waits for the daemon, or is refused.
 *
 * @see spec: storage, section 3 (Start)
 */

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ProcessError } from "../domain/process-error.ts";
import { processLockHolder } from "../lib/process-lock.ts";
import { publishedIntents } from "../store/published-intents.ts";
import { resolvePlace, type Surroundings } from "./resolve.ts";

const WAIT_MS = 1_000;
const POLL_MS = 20;

/** @returns the hook's exit code */
export async function runHook(
  name: string,
  around: Surroundings,
  say: (text: string) => void,
): Promise<number> {
  if (name !== "pre-commit")
    throw new ProcessError("USAGE", `There is no hook ${JSON.stringify(name)} here.`);
  const place = await resolvePlace({ repo: around.cwd }, around);
  const startedMs = Date.now();
  for (;;) {
    const open = await publishedIntents(place.gitDir);
    if (open === 0) return 0;
    const alive = (await processLockHolder(join(place.gitDir, "notesd"))) !== null;
    if (!alive || Date.now() - startedMs > WAIT_MS) {
      say(
        alive
          ? "notesd is still placing files of a write that is on the branch already. Commit again in a moment.\n"
          : "notesd ended in the middle of a write. Run notesd recover (or notesd start), then commit again.\n",
      );
      return 1;
    }
    await pause(POLL_MS);
  }
}
