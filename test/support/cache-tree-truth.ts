/** The folders' trees as native Git makes them from the entries alone, to hold the index's cache-tree against. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CacheTree } from "../../src/store/git-index/cache-tree.ts";
import { parseIndex } from "../../src/store/git-index/index-bytes.ts";
import { GIT_ENV } from "./git-env.ts";
import type { GitRepo } from "./git-repo.ts";

/** Nodes of the index's cache-tree by path, "" the root; empty when it has none. */
export function cacheTreeOf({ gitdir }: GitRepo): Map<string, CacheTree> {
  const found = new Map<string, CacheTree>();
  const walk = (node: CacheTree, path: string) => {
    found.set(path, node);
    for (const child of node.folders) {
      const name = Buffer.from(child.name, "latin1").toString("utf8");
      walk(child, path === "" ? name : `${path}/${name}`);
    }
  };
  const { tree } = parseIndex(readFileSync(join(gitdir, "index")));
  if (tree !== null) walk(tree, "");
  return found;
}

/**
 * What is wrong in the cache-tree: valid folders whose id or count isn't what `git write-tree` gives for an index
 * of the same entries without any cache, or that hold what no tree can (a conflict, an intent to add).
 */
export function cacheTreeFaults(repo: GitRepo): string[] {
  const env = { ...GIT_ENV, GIT_INDEX_FILE: join(repo.gitdir, "index.without-cache") };
  const git = (args: string[], input = "") =>
    execFileSync("git", args, { cwd: repo.root, env, input, encoding: "utf8" });
  const entries = repo.git("ls-files", "-s", "-z").split("\0").filter(Boolean);
  const pathOf = (line: string) => line.slice(line.indexOf("\t") + 1);
  const intended = new Set(intentsToAdd(repo));
  const odd = entries.filter((line) => !/^\d+ \w+ 0\t/.test(line) || intended.has(pathOf(line)));
  const plain = entries.filter((line) => !odd.includes(line));
  git(["read-tree", "--empty"]);
  git(["update-index", "-z", "--add", "--index-info"], plain.map((line) => `${line}\0`).join(""));
  const trees = new Map([["", git(["write-tree", "--missing-ok"]).trim()]]);
  for (const line of git(["ls-tree", "-r", "-d", "-z", trees.get("") ?? ""])
    .split("\0")
    .filter(Boolean))
    if (line.startsWith("040000")) trees.set(pathOf(line), line.slice(12, 52));
  return [...cacheTreeOf(repo)].flatMap(([folder, { count, id }]) => {
    if (count < 0) return [];
    const below = (line: string) => folder === "" || pathOf(line).startsWith(`${folder}/`);
    if (odd.some(below)) return [`${folder}: valid over a conflict or an intent to add`];
    const real = plain.filter(below).length;
    return id === trees.get(folder) && count === real
      ? []
      : [`${folder}: ${id} of ${count}, Git makes ${trees.get(folder)} of ${real}`];
  });
}

/** `git ls-files --debug` has the flags of each entry. */
function intentsToAdd(repo: GitRepo): string[] {
  const lines = repo.git("-c", "core.quotePath=false", "ls-files", "--debug").split("\n");
  return lines.flatMap((line, at) => {
    const flags = /flags: ([0-9a-f]+)/.exec(lines[at + 5] ?? "")?.[1];
    return flags !== undefined && !line.startsWith(" ") && (Number.parseInt(flags, 16) & 0x20000000) !== 0
      ? [line]
      : [];
  });
}
