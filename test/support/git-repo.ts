/** Real repositories in temporary folders, driven by native Git with no configuration but their own. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { GIT_ENV } from "./git-env.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "notesd-test-"));
  made.push(folder);
  return folder;
}

export interface GitRepo {
  readonly root: string;
  readonly gitdir: string;
  /** Standard output without its last newline; throws with Git's own words when it fails. */
  git(...args: string[]): string;
  /** The same with bytes in and out, trailing newline kept. */
  gitBytes(args: readonly string[], input?: Uint8Array | string): Buffer;
  /** For commands that may fail. */
  tryGit(...args: string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  };
}

/** `git init -b main` in a new temporary folder. */
export function gitRepo(...initArgs: string[]): GitRepo {
  const repo = repoAt(temporaryFolder());
  repo.git("init", "-q", "-b", "main", ...initArgs, ".");
  return repo;
}

/** Native Git in a folder that is a repository, or will be. */
export function repoAt(root: string): GitRepo {
  const options = { cwd: root, env: GIT_ENV, maxBuffer: 1 << 28 };
  const gitBytes = (args: readonly string[], input: Uint8Array | string = "") =>
    execFileSync("git", args, { ...options, input, stdio: ["pipe", "pipe", "pipe"] });
  const git = (...args: string[]) => gitBytes(args).toString("utf8").replace(/\n$/, "");
  const tryGit = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync("git", args, { ...options, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  return { root, gitdir: join(root, ".git"), git, gitBytes, tryGit };
}
