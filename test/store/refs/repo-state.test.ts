import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { LONG_STANDING_MS } from "../../../src/store/refs/foreign-lock.ts";
import { gitLocks } from "../../../src/store/refs/git-lock.ts";
import { repoState, toldState } from "../../../src/store/refs/repo-state.ts";
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

test("refs that were moved into a reftable are unsupported, whatever HEAD says", () => {
  const repo = forked();
  mkdirSync(join(repo.gitdir, "reftable"));
  writeFileSync(join(repo.gitdir, "HEAD"), "ref: refs/heads/.invalid\n");
  expect(repoState(repo.gitdir, MAIN)).toMatchObject({ state: "unsupported", path: "reftable" });
});

test("our branch in a linked working tree, at rest, in a rebase or in a bisect, is unsupported; another branch is not", () => {
  const repo = forked();
  repo.git("checkout", "-q", "-b", "other");
  repo.git("worktree", "add", "-q", "linked", "main");
  const inLinked = (...args: string[]) => repo.tryGit("-C", "linked", ...args);
  const unsupported = (path: string) =>
    expect(repoState(repo.gitdir, MAIN)).toMatchObject({ state: "unsupported", path });
  unsupported("worktrees/linked/HEAD");
  inLinked("rebase", "side");
  unsupported("worktrees/linked/rebase-merge/head-name");
  inLinked("rebase", "--abort");
  inLinked("bisect", "start");
  inLinked("checkout", "-q", "--detach");
  unsupported("worktrees/linked/BISECT_START");
  inLinked("bisect", "reset");
  inLinked("checkout", "-q", "side");
  expect(repoState(repo.gitdir, MAIN)).toMatchObject({ state: "elsewhere", at: "other" });
  expect(repoState(repo.gitdir, SIDE)).toMatchObject({
    state: "unsupported",
    path: "worktrees/linked/HEAD",
  });
});

test("a lock is told when it has stood for long; one of ours never is", async () => {
  const repo = forked();
  const madeMs = (lock: string) => statSync(join(repo.gitdir, lock)).ctimeMs;
  const locks = gitLocks({ gitdir: repo.gitdir, clock: systemClock, lockWaitMs: 0 });
  const held = await locks.acquire([await locks.prepare("index", "")]);
  expect(toldState(repo.gitdir, MAIN, madeMs("index.lock") + LONG_STANDING_MS)).toEqual({ state: "ok" });
  held.release();
  const lock = "refs/heads/main.lock";
  writeFileSync(join(repo.gitdir, lock), "");
  const at = (ageMs: number) => toldState(repo.gitdir, MAIN, madeMs(lock) + ageMs);
  expect(at(LONG_STANDING_MS - 1)).toEqual({ state: "ok" });
  expect(at(LONG_STANDING_MS)).toEqual({ state: "locked", path: lock });
});
