/** A repository as a push's hook sees it, with objects that no file system would hold. */
import { execFileSync } from "node:child_process";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { type HookGit, hookGit } from "../../src/main/hook/hook-git.ts";
import { cleanEnv, git, tempFolder } from "./daemon.ts";

export interface PushedRepo {
  readonly root: string;
  /** @param limits of one command */
  git(limits?: Parameters<typeof hookGit>[2]): Promise<HookGit>;
  blob(bytes: string | Buffer): string;
  /** A tree of such entries: `100644 blob ID\tname`. */
  tree(entries: readonly string[]): string;
  /** A commit of a tree; it is no branch's. */
  commit(tree: string, parent?: string): string;
}

export const RULES = {
  branch: "main",
  roots: ["notes"],
  types: ["note"],
  note_bytes: 10_000,
  file_bytes: 20_000,
};

/** In a temp folder, which the caller removes. */
export function pushedRepo(): PushedRepo {
  const root = tempFolder();
  git(root, "init", "-q", "-b", "main");
  git(root, "config", "user.name", "Pat");
  git(root, "config", "user.email", "pat@example.com");
  const fed = (input: string | Buffer, ...args: string[]) =>
    execFileSync("git", args, { cwd: root, env: cleanEnv(), input, encoding: "utf8" }).trim();
  return {
    root,
    async git(limits) {
      const place = await gitPlaceAt(root);
      if (place === null) throw new Error("git init made no repository");
      return hookGit(place, cleanEnv(), limits);
    },
    blob: (bytes) => fed(bytes, "hash-object", "-w", "--stdin"),
    tree: (entries) => fed(entries.map((entry) => `${entry}\n`).join(""), "mktree"),
    commit: (tree, parent) =>
      git(root, "commit-tree", ...(parent === undefined ? [] : ["-p", parent]), "-m", "x", tree),
  };
}
