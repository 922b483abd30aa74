/** A daemon in a process of its own: started and waited for, or stopped and waited for. */
import { spawn } from "node:child_process";
import { open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type DaemonFile, proves, readDaemonFile, runningDaemon } from "../client/discover.ts";
import { PROCESS_EXITS, ProcessError } from "../domain/process-error.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { processLockHolder } from "../lib/process-lock.ts";

const POLL_MS = 20;
/** A first start over a long history reads all of it. */
const READY_WITHIN_MS = 600_000;
const STOPPED_WITHIN_MS = 15_000;
const LOG_MAX_BYTES = 5_000_000;

export const logFile = (place: GitPlace): string => join(place.gitDir, "notesd", "log");

/**
 * Start a daemon and return when it answers. One that another process starts meanwhile is as good; while an
 * earlier one is still stopping, the start is tried again.
 * @param command  this program and its arguments, node first
 * @throws ProcessError with the exit code that the daemon ended with, and the end of its log
 */
export async function startDetached(
  place: GitPlace,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<DaemonFile> {
  const file = logFile(place);
  await turnLog(file);
  let child = await launch(place, command, env);
  const startedMs = Date.now();
  while (Date.now() - startedMs < READY_WITHIN_MS) {
    const ended = child.ended();
    const daemon = await readDaemonFile(place);
    if (daemon && (daemon.pid === child.pid || ended !== null) && (await proves(daemon))) return daemon;
    if (ended !== null && ended !== PROCESS_EXITS.ALREADY_RUNNING)
      throw await failure(ended, file, child.logFrom);
    const holder = ended === null ? null : await processLockHolder(join(place.gitDir, "notesd"));
    if (ended !== null && holder === null) child = await launch(place, command, env);
    await pause(POLL_MS);
  }
  throw new ProcessError("FAILED", `The daemon (process ${child.pid}) is not ready yet. See: notesd logs -f`);
}

interface Launched {
  readonly pid: number | undefined;
  /** Where its part of the log begins, in bytes. */
  readonly logFrom: number;
  /** Its exit code; null while it runs. */
  ended(): number | null;
}

async function launch(
  place: GitPlace,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Launched> {
  const [program = process.execPath, ...args] = command;
  const log = await open(logFile(place), "a", 0o600);
  const logFrom = (await log.stat()).size;
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
    env: { ...env },
    cwd: place.root,
  });
  let ended: number | null = null;
  child.once("error", () => {
    ended = PROCESS_EXITS.FAILED;
  });
  child.once("exit", (code) => {
    ended = code ?? PROCESS_EXITS.FAILED;
  });
  child.unref();
  await log.close();
  return { pid: child.pid, logFrom, ended: () => ended };
}

async function turnLog(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found && found.size > LOG_MAX_BYTES) await rename(file, `${file}.1`);
}

async function failure(exit: number, file: string, from: number): Promise<ProcessError> {
  const text = (await readFile(file)).subarray(from).toString("utf8").trim();
  const last = text.split("\n").slice(-5).join("\n");
  // The table has every exit code that the daemon ends with.
  const code = Object.entries(PROCESS_EXITS).find(([, number]) => number === exit)?.[0] ?? "FAILED";
  return new ProcessError(code as keyof typeof PROCESS_EXITS, `The daemon did not start.\n${last}`);
}

/**
 * Ask the daemon of a repository to end and wait until it has. Only one that proves itself is signalled: a
 * pid in a file may be anybody's by now.
 * @throws ProcessError NO_DAEMON, or FAILED when it takes too long
 */
export async function stopDaemon(place: GitPlace): Promise<DaemonFile> {
  const folder = join(place.gitDir, "notesd");
  const daemon = await provedDaemon(place);
  process.kill(daemon.pid, "SIGTERM");
  const startedMs = Date.now();
  while (Date.now() - startedMs < STOPPED_WITHIN_MS) {
    const now = await readDaemonFile(place);
    if (now?.nonce !== daemon.nonce && (await processLockHolder(folder))?.pid !== daemon.pid) return daemon;
    await pause(POLL_MS);
  }
  throw new ProcessError(
    "FAILED",
    `The daemon (process ${daemon.pid}) was told to end and still works. See: notesd logs`,
  );
}

async function provedDaemon(place: GitPlace): Promise<DaemonFile> {
  try {
    return await runningDaemon(place);
  } catch (error) {
    const holder = await processLockHolder(join(place.gitDir, "notesd"));
    if (holder === null) throw error;
    const who = holder.pid === null ? "A process" : `Process ${holder.pid}`;
    throw new ProcessError(
      "FAILED",
      `${who} serves ${place.root} but doesn't answer; it may still be starting.`,
      error,
    );
  }
}
