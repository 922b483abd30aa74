/** A history through the store, and the same through `git fast-import`: two repositories whose heads must be one id. */
import { committed } from "./drafts.ts";
import { type GitRepo, gitRepo } from "./git-repo.ts";
import { data, randomHistory } from "./random-history.ts";
import { storeOnGit } from "./store-on-git.ts";

const MOST_AT_ONCE = 100;

interface Twice {
  readonly ours: GitRepo;
  readonly native: GitRepo;
}

/** Write a random history twice. @param count commits */
export async function writeTwice(seed: number, count: number): Promise<Twice> {
  const on = await storeOnGit();
  const planned = randomHistory(seed, count);
  const ids: string[] = [];
  // Groups of every size: alone, a few, many.
  for (let from = 0, size = 1; from < count; from += size, size = (size * 7) % MOST_AT_ONCE || 1) {
    const group = planned.slice(from, from + size).map((one) => one.draft);
    for (const outcome of (await on.store.commit(group)).outcomes)
      ids.push(committed(outcome).events.commit.id);
  }
  await on.store.close();
  const native = gitRepo();
  const commits = rawCommits(on.repo, ids);
  const stream = commits.map((raw, n) => commandOf(raw, planned[n]?.commands ?? ""));
  native.gitBytes(["fast-import", "--quiet"], Buffer.concat(stream));
  return { ours: on.repo, native };
}

function rawCommits({ gitBytes }: GitRepo, ids: readonly string[]): Buffer[] {
  const out = gitBytes(["cat-file", "--batch"], ids.map((id) => `${id}\n`).join(""));
  const raws: Buffer[] = [];
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf("\n", at);
    const size = Number(out.toString("latin1", at, end).split(" ")[2]);
    raws.push(out.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return raws;
}

/** The same author, committer, dates and message; the tree is Git's own work. */
function commandOf(raw: Buffer, commands: string): Buffer {
  const blank = raw.indexOf("\n\n");
  const header = raw.toString("utf8", 0, blank).split("\n");
  const people = header.filter((line) => /^(?:author|committer) /.test(line)).join("\n");
  return Buffer.concat([
    Buffer.from(`commit refs/heads/main\n${people}\n`),
    data(raw.subarray(blank + 2)),
    Buffer.from(`${commands}\n`),
  ]);
}

/** Head, trees of all commits, and files of a repository. */
export function describeHistory({ git }: GitRepo) {
  return {
    head: git("rev-parse", "main"),
    commits: git("rev-list", "--count", "main"),
    trees: git("log", "--format=%T", "main"),
    files: git("ls-tree", "-r", "main"),
  };
}
