import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repoState } from "../../../src/store/refs/repo-state.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";

function commit(repo: GitRepo, text: string, file = "a.md"): void {
  writeFileSync(join(repo.root, file), text);
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", text);
}

/** `main` and `side` both change a.md after their common first commit; HEAD is at main. */
function forked(): GitRepo {
  const repo = gitRepo();
  commit(repo, "one");
  repo.git("checkout", "-q", "-b", "side");
  commit(repo, "two");
  repo.git("checkout", "-q", "main");
  commit(repo, "three");
  return repo;
}

test("a quiet repository is ok, one without commits unborn", () => {
  expect(repoState(gitRepo().gitdir, MAIN)).toEqual({ state: "unborn" });
  expect(repoState(forked().gitdir, MAIN)).toEqual({ state: "ok" });
});

test("another branch and a detached HEAD are elsewhere, and say where", () => {
  const repo = forked();
  expect(repoState(repo.gitdir, SIDE)).toEqual({ state: "elsewhere", path: "HEAD", at: "main" });
  repo.git("checkout", "-q", "--detach");
  const at = repo.git("rev-parse", "HEAD");
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "elsewhere", path: "HEAD", at });
});

test.each([
  ["merge", ["merge", "side"], { state: "merge", path: "MERGE_HEAD" }],
  ["cherry-pick", ["cherry-pick", "side"], { state: "cherry-pick", path: "CHERRY_PICK_HEAD" }],
  ["revert", ["revert", "--no-edit", "HEAD~1"], { state: "revert", path: "REVERT_HEAD" }],
])(
  "a conflicted %s of our branch is busy until it ends, and of no concern to another branch",
  (name, args, busy) => {
    const repo = forked();
    expect(repo.tryGit(...args).status).not.toBe(0);
    expect(repoState(repo.gitdir, MAIN)).toEqual(busy);
    expect(repoState(repo.gitdir, SIDE)).toMatchObject({ state: "elsewhere", at: "main" });
    repo.git(name, "--abort");
    expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "ok" });
  },
);

test.each([["--merge"], ["--apply"]])(
  "a stopped rebase %s is busy for the branch it moves, elsewhere for others",
  (backend) => {
    const repo = forked();
    expect(repo.tryGit("rebase", backend, "side").status).not.toBe(0);
    expect(repoState(repo.gitdir, MAIN)).toMatchObject({ state: "rebase" });
    expect(repoState(repo.gitdir, SIDE)).toMatchObject({ state: "elsewhere" });
    repo.git("rebase", "--abort");
    expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "ok" });
  },
);

test("a rebase of another branch that will move ours at its end is ours too", () => {
  const repo = forked();
  repo.git("checkout", "-q", "-b", "stacked");
  commit(repo, "four");
  expect(repo.tryGit("rebase", "--update-refs", "side").status).not.toBe(0);
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "rebase", path: "rebase-merge/update-refs" });
  expect(repoState(repo.gitdir, SIDE)).toMatchObject({ state: "elsewhere" });
});

test("git am and a series of picks that stopped between two are busy", () => {
  const repo = forked();
  const patch = repo.git("format-patch", "--stdout", "-1", "side");
  expect(() => repo.gitBytes(["am"], `${patch}\n`)).toThrow();
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "rebase", path: "rebase-apply" });
  repo.git("am", "--abort");
  expect(repo.tryGit("cherry-pick", "side~1..side", "main~1").status).not.toBe(0);
  rmSync(join(repo.gitdir, "CHERRY_PICK_HEAD"));
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "cherry-pick", path: "sequencer" });
});

test("a bisect is busy for the branch it began on and nobody else", () => {
  const repo = forked();
  commit(repo, "five");
  commit(repo, "six");
  repo.git("bisect", "start", "HEAD", "HEAD~3");
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "bisect", path: "BISECT_LOG" });
  expect(repoState(repo.gitdir, SIDE)).toMatchObject({ state: "elsewhere" });
  repo.git("bisect", "reset");
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "ok" });
});

test("a stash leaves the repository ok", () => {
  const repo = forked();
  writeFileSync(join(repo.root, "a.md"), "dirty");
  repo.git("stash", "-q");
  expect(repoState(repo.gitdir, MAIN)).toEqual({ state: "ok" });
});
