/** The program as a person runs it: the command line in a folder of its own, and the daemon that it may have started. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { BIN, cleanEnv, removeFolder, tempFolder } from "./daemon.ts";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What each test of a file has anew. */
export interface CliProcess {
  /** The folder above. */
  readonly top: string;
  /** Where a test makes its repository; another one it must say, so that its daemon is stopped. */
  repo: string;
  env(more?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
  runIn(cwd: string, more: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended>;
  /** In the folder above. */
  run(...args: string[]): Promise<Ended>;
  /** What daemon.json says. */
  daemonFile(): { readonly pid: number; readonly port: number };
}

/** Folders before each test; after it the daemon is stopped and they are gone. Call it at the top of a test file. */
export function cliProcess(): CliProcess {
  let top = "";
  const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...cleanEnv(),
    HOME: top,
    XDG_STATE_HOME: join(top, "state"),
    ...more,
  });
  const runIn = (cwd: string, more: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd, env: env(more), encoding: "utf8" } as const;
      execFile(process.execPath, [BIN, ...args], options, (error, out, err) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
      });
    });
  const cli: CliProcess = {
    get top() {
      return top;
    },
    repo: "",
    env,
    runIn,
    run: (...args) => runIn(top, {}, ...args),
    daemonFile: () => JSON.parse(readFileSync(join(cli.repo, ".git/notesd/daemon.json"), "utf8")),
  };
  beforeEach(() => {
    top = tempFolder();
    cli.repo = join(top, "notes");
  });
  afterEach(async () => {
    const file = join(cli.repo, ".git/notesd/daemon.json");
    // From inside, where the settings file that a test left in the folder above is nobody's.
    const stopped = existsSync(file) ? await runIn(cli.repo, {}, "stop") : null;
    if (existsSync(file)) throw new Error(`a daemon was left behind: ${stopped?.err}`);
    removeFolder(top);
  });
  return cli;
}
