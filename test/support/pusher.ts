/** A person with a clone of a served repository, and stock Git to push from it. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanEnv, git, type RunningDaemon } from "./daemon.ts";

export interface GitEnd {
  readonly code: number | null;
  /** What it printed, both streams. */
  readonly text: string;
}

export interface Clone {
  readonly dir: string;
  /** Run Git in the clone. Nothing is thrown. */
  run(...args: string[]): Promise<GitEnd>;
  /** Write files (null removes one) and commit all of them. @returns the commit */
  commit(files: Readonly<Record<string, string | Buffer | null>>, message?: string): string;
}

/** Run Git without holding up the loop. */
export function runGit(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd, env: { ...cleanEnv(), GIT_TERMINAL_PROMPT: "0", ...env } });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
      text += String(chunk);
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}

/** The address that Git takes, with a token as the password. */
export const gitUrl = (daemon: Pick<RunningDaemon, "http">, token: string): string =>
  `${daemon.http.replace("://", `://anyone:${token}@`)}/notes.git`;

/** Clone from an address or a path into a folder, as Quinn. @throws Error with Git's words */
export async function cloneFrom(url: string, dir: string, ...args: string[]): Promise<Clone> {
  const cloned = await runGit(dirname(dir), ["clone", "-q", ...args, url, dir]);
  if (cloned.code !== 0) throw new Error(cloned.text);
  git(dir, "config", "user.name", "Quinn");
  git(dir, "config", "user.email", "quinn@example.com");
  return {
    dir,
    run: (...words) => runGit(dir, words),
    commit(files, message = "by Quinn") {
      for (const [path, content] of Object.entries(files)) {
        if (content === null) git(dir, "rm", "-q", "-f", path);
        else {
          mkdirSync(dirname(join(dir, path)), { recursive: true });
          writeFileSync(join(dir, path), content);
        }
      }
      git(dir, "add", "-A");
      git(dir, "commit", "-q", "-m", message);
      return git(dir, "rev-parse", "HEAD");
    },
  };
}
