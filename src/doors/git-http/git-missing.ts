/** Whether the native Git that smart HTTP needs is here. Asked once it is needed, and again until it is found. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gitEnvironment } from "../../lib/git-environment.ts";

/** GIT_CONFIG_COUNT came with it. */
const LEAST = [2, 31] as const;
const ASK_WITHIN_MS = 10_000;

const INSTALL =
  "(Debian, Ubuntu: apt install git; Fedora: dnf install git; Alpine: apk add git git-daemon; macOS: brew install git)";

/** @returns a sentence about what is missing; null: all that is needed is here */
export type GitMissing = () => Promise<string | null>;

/** @param env where PATH is looked up */
export function gitMissing(env: Readonly<Record<string, string | undefined>>): GitMissing {
  let found = false;
  return async () => {
    if (found) return null;
    const missing = await look(gitEnvironment(env));
    found = missing === null;
    return missing;
  };
}

async function look(env: Record<string, string>): Promise<string | null> {
  const git = async (option: string) =>
    (await promisify(execFile)("git", [option], { env, timeout: ASK_WITHIN_MS })).stdout.trim();
  let version: string;
  let folder: string;
  try {
    [version, folder] = await Promise.all([git("--version"), git("--exec-path")]);
  } catch {
    // ENOENT mostly; whatever it is, there is no Git that works.
    return `Clone, fetch and push over HTTP need Git on the machine of the daemon, and on its PATH. Install it there ${INSTALL}, then try again; nothing else of notesd needs it.`;
  }
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]))
    return `The daemon's machine has ${version}; clone, fetch and push over HTTP need ${LEAST.join(".")} or later. Install a newer Git there ${INSTALL}.`;
  try {
    await access(join(folder, "git-http-backend"), constants.X_OK);
    return null;
  } catch {
    // Some systems have it in a package of its own.
    return `The Git of the daemon's machine comes without git-http-backend. Install the package that has it ${INSTALL}, then try again.`;
  }
}
