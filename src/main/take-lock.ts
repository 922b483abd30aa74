/** The daemon lock of a repository, or a refusal that names who has it. */
import { join } from "node:path";
import { readDaemonFile } from "../client/discover.ts";
import { ProcessError } from "../domain/process-error.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { type ProcessLock, takeProcessLock } from "../lib/process-lock.ts";

/** @throws ProcessError ALREADY_RUNNING naming the first */
export async function takeLock(place: GitPlace): Promise<ProcessLock> {
  const attempt = await takeProcessLock(join(place.gitDir, "notesd"));
  if (attempt.kind === "taken") return attempt.lock;
  const daemon = await readDaemonFile(place);
  const { pid } = attempt.holder;
  const who = pid === null ? "another process" : `process ${pid}`;
  const where = daemon && daemon.pid === pid ? ` at ${daemon.url}` : "";
  throw new ProcessError("ALREADY_RUNNING", `${place.root} is served already by ${who}${where}.`);
}
