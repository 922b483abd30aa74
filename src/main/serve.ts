/** `notesd start` in the foreground: a daemon from its start to the signal that ends it. */
import { appendFileSync, fstatSync, statSync } from "node:fs";
import { relative } from "node:path";
import type { Flags } from "../doors/cli/host.ts";
import { plainLine } from "../doors/cli/text-table.ts";
import { systemClock } from "../lib/clock.ts";
import { createLog } from "../lib/log.ts";
import { startDaemon } from "./daemon.ts";
import { logFile } from "./detached.ts";
import { program } from "./program-file.ts";
import { type Resolved, resolveSettings, type Surroundings } from "./resolve.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** Everything acknowledged is durable at any time, so a part that hangs may be left behind. */
const STOP_WITHIN_MS = 9_000;
/** As long as nothing is served there is little to end, and what a start had begun the next one begins again. */
const START_ENDS_WITHIN_MS = 2_000;

/** @returns the exit code, after a signal; @throws ProcessError what keeps it from starting */
export async function serve(
  flags: Flags,
  around: Surroundings,
  say: (text: string) => void,
): Promise<number> {
  const resolved = await resolveSettings(flags, around);
  const ownLog = isLog(logFile(resolved.place));
  const log = createLog({ write: logWriter(logFile(resolved.place), ownLog, say) });
  // Whoever read standard error is gone: the daemon and its own log go on.
  process.stderr.on("error", () => {});
  const asked = signal();
  let within = START_ENDS_WITHIN_MS;
  let late: NodeJS.Timeout | undefined;
  void asked.then((name) => {
    log.info("stopping", { signal: name });
    late = setTimeout(() => {
      log.error("stopping took too long; what was acknowledged is durable", { after_ms: within });
      process.exit(0);
    }, within);
  });
  const daemon = await startDaemon(resolved, { env: around.env, log, clock: systemClock });
  within = STOP_WITHIN_MS;
  if (!ownLog) say(welcome(resolved, daemon.file.url, around));
  await asked;
  await daemon.stop();
  clearTimeout(late);
  log.info("stopped");
  // A connection of ours that lingers must not keep the process.
  setTimeout(() => process.exit(0), 200).unref();
  return 0;
}

/** A log line as a person at a terminal reads it; the file and a pipe get the JSON. */
export function readable(line: string): string {
  const { at, level, message, ...fields }: Record<string, unknown> = JSON.parse(line);
  const about = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
  // A path or a title may come from whoever pushes.
  return `${plainLine([String(at).slice(11, 19), level, message, ...about].join(" "))}\n`;
}

function signal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of SIGNALS) process.on(name, () => resolve(name));
  });
}

/** Whether standard error is the repository's log already, as for a detached daemon. */
function isLog(file: string): boolean {
  try {
    const [own, kept] = [fstatSync(2), statSync(file)];
    return own.ino === kept.ino && own.dev === kept.dev;
  } catch {
    // There is no log file yet, so standard error is another.
    return false;
  }
}

/** Lines go to standard error and to the repository's log; once only where the two are one file. */
function logWriter(file: string, ownLog: boolean, say: (text: string) => void): (line: string) => void {
  return (line) => {
    say(process.stderr.isTTY ? readable(line) : line);
    if (ownLog) return;
    try {
      appendFileSync(file, line, { mode: 0o600 });
    } catch {
      // Trigger: a full disk. Why: standard error has the line. Outcome: `notesd logs` misses it.
    }
  };
}

function welcome({ place, settings }: Resolved, url: string, { cwd, env }: Surroundings): string {
  // Under npm the program is not on the path.
  const name = env["npm_lifecycle_event"] ? `node ${relative(cwd, program.bin)}` : "notesd";
  return [
    `notesd ${program.version} serves ${place.root} (branch ${settings.branch ?? ""}) at ${url}`,
    `  agents    ${url.replace("http", "ws")}/rpc   with a token: ${name} agent add NAME`,
    `  try       ${name} create "First note" "Hello"`,
    `            ${name} list   ·   ${name} watch   ·   git -C ${place.root} log`,
    "",
  ].join("\n");
}
