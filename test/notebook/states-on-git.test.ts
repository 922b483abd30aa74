/** What a person's Git is doing: told from Git's own files at once, refusing writes or not, and caught up with after. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { NoteId } from "../../src/domain/note.ts";
import type { StateSince } from "../../src/notebook/state-watch.ts";
import { gitRepo } from "../support/git-repo.ts";
import {
  asInitLeavesIt,
  type NotebookOnGit,
  notebookOnGit,
  standingLocks,
} from "../support/notebook-on-git.ts";
import { PERSON } from "../support/open-notebook.ts";
import { saveFile } from "../support/save-file.ts";
import { until } from "../support/wait.ts";

let on: NotebookOnGit | null = null;
afterEach(async () => {
  await on?.close();
  on = null;
});

/** Main and side both changed notes/clash.md; an agent's note lies on main; the disk door watches. */
async function forked() {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  const commit = (text: string) => {
    saveFile(repo.root, "notes/clash.md", text);
    repo.git("add", "-A");
    repo.git("commit", "-q", "-m", text);
  };
  commit("one\n");
  repo.git("checkout", "-q", "-b", "side");
  commit("two\n");
  repo.git("checkout", "-q", "main");
  commit("three\n");
  commit("four\n");
  on = await notebookOnGit(repo);
  const { noteId } = await on.create("Before", "before");
  const told: StateSince[] = [];
  on.notebook.onState((state) => void told.push(state));
  await on.watch();
  await on.driven(on.disk.scanAll("start"));
  return { on, repo, told, noteId };
}

/** The notebook's clock stands still, so no poll tells it: only what Git did to its files. */
const hears = (told: readonly StateSince[], state: string) =>
  until(`the state ${state}`, () => told.at(-1)?.state === state);

/** An agent writes, a person saves, and both are on the branch and on the disk with nothing left over. */
async function everythingWorks(
  { on, repo }: { on: NotebookOnGit; repo: NotebookOnGit["repo"] },
  noteId: NoteId,
) {
  await on.update(noteId, "after");
  saveFile(repo.root, "notes/by-hand.md", "saved by hand\n");
  await on.settle();
  expect(repo.git("show", "main:notes/by-hand.md")).toBe("saved by hand");
  expect(repo.git("status", "--porcelain")).toBe("");
  const verified = await on.notebook.verify();
  expect(verified).toMatchObject({ equal: true, problems: [] });
  expect(standingLocks(repo.gitdir)).toEqual([]);
  expect(on.warnings).toEqual([]);
}

test.each([
  ["merge", ["merge", "side"], ["merge", "--abort"]],
  ["rebase", ["rebase", "side"], ["rebase", "--abort"]],
  ["rebase", ["rebase", "--apply", "side"], ["rebase", "--abort"]],
  ["cherry-pick", ["cherry-pick", "side"], ["cherry-pick", "--abort"]],
  ["cherry-pick", ["cherry-pick", "side~1", "side"], ["cherry-pick", "--quit"]],
  ["revert", ["revert", "--no-edit", "main~2"], ["revert", "--abort"]],
  ["bisect", ["bisect", "start", "main", "main~2"], ["bisect", "reset"]],
])(
  "a %s (git %j) is told at once, refuses writes while it lasts, and is caught up with",
  async (state, begin, end) => {
    const bench = await forked();
    const { on, repo, told, noteId } = bench;
    repo.tryGit(...begin);
    await hears(told, state);
    expect(told.at(-1)).toMatchObject({ path: expect.any(String), since: expect.any(String) });
    await expect(on.update(noteId, "refused")).rejects.toMatchObject({
      code: "REPO_BUSY",
      data: { state, retry_after_ms: expect.any(Number) },
    });
    expect((await on.notebook.status()).state.state).toBe(state);
    expect((await on.driven(on.notebook.read(noteId, PERSON))).content).toBe("before");
    repo.git(...end);
    if (end.includes("--quit")) repo.git("reset", "-q", "--hard");
    await hears(told, "ok");
    await everythingWorks(bench, noteId);
  },
);

test("a rebase that is continued to its end takes the agents' notes along, and what was saved meanwhile is adopted", async () => {
  const bench = await forked();
  const { repo, told, noteId } = bench;
  repo.tryGit("rebase", "side");
  await hears(told, "rebase");
  saveFile(repo.root, "notes/meanwhile.md", "saved meanwhile\n");
  for (const text of ["three\n", "four\n"]) {
    saveFile(repo.root, "notes/clash.md", text);
    repo.git("add", "notes/clash.md");
    repo.tryGit("-c", "core.editor=true", "rebase", "--continue");
  }
  await hears(told, "ok");
  await everythingWorks(bench, noteId);
  expect(repo.git("show", "main:notes/meanwhile.md")).toBe("saved meanwhile");
  expect(repo.git("show", "main:notes/clash.md")).toBe("four");
  expect(repo.git("merge-base", "main", "side")).toBe(repo.git("rev-parse", "side"));
});

test.each([
  ["another branch", ["checkout", "-q", "side"], "side"],
  ["a detached HEAD", ["checkout", "-q", "--detach"], /^[0-9a-f]{40}$/],
])(
  "elsewhere, at %s, is told at once; writes go to the branch alone, and files catch up",
  async (_name, args, at) => {
    const bench = await forked();
    const { on, repo, told, noteId } = bench;
    repo.git(...args);
    await hears(told, "elsewhere");
    expect(told.at(-1)).toMatchObject({
      path: "HEAD",
      at: typeof at === "string" ? at : expect.stringMatching(at),
    });
    const written = await on.create("Elsewhere", "meanwhile");
    expect(repo.git("status", "--porcelain")).toBe("");
    repo.git("checkout", "-q", "main");
    await hears(told, "ok");
    await on.driven(on.disk.headMoved());
    expect(readFileSync(join(repo.root, written.path ?? ""), "utf8")).toContain("meanwhile");
    await everythingWorks(bench, noteId);
  },
);

test("unborn: the first note is the first commit", async () => {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  on = await notebookOnGit(repo);
  const told: StateSince[] = [];
  on.notebook.onState((state) => void told.push(state));
  await on.watch();
  expect((await on.notebook.status()).state).toEqual({ state: "unborn" });
  const { noteId } = await on.create("First", "first");
  await hears(told, "ok");
  await everythingWorks({ on, repo }, noteId);
});

test("locked: a lock that stands for longer than a command takes is told, is not removed, and goes by", async () => {
  const bench = await forked();
  const { on, repo, told, noteId } = bench;
  const lock = join(repo.gitdir, "index.lock");
  writeFileSync(lock, "");
  expect((await on.notebook.status()).state.state).toBe("ok");
  await until("the lock to be old", async () => (await on.notebook.status()).state.state === "locked");
  // Locks come and go with every command, so no event asks for a look: the poll does.
  on.clock.advance(2_000);
  await hears(told, "locked");
  expect(told.at(-1)).toMatchObject({ path: "index.lock" });
  rmSync(lock);
  on.clock.advance(2_000);
  await hears(told, "ok");
  await everythingWorks(bench, noteId);
});

test("unsupported: our branch checked out in a linked working tree would lose notes there, so nothing is written", async () => {
  const bench = await forked();
  const { on, repo, told, noteId } = bench;
  repo.git("checkout", "-q", "side");
  await hears(told, "elsewhere");
  repo.git("worktree", "add", "-q", "linked", "main");
  await hears(told, "unsupported");
  await expect(on.update(noteId, "refused")).rejects.toMatchObject({
    code: "REPO_BUSY",
    message: expect.stringContaining("linked working tree linked"),
    data: { state: "unsupported", path: "worktrees/linked/HEAD" },
  });
  saveFile(join(repo.root, "linked"), "notes/there.md", "written there\n");
  repo.git("-C", "linked", "add", "-A");
  repo.git("-C", "linked", "commit", "-q", "-m", "there");
  repo.git("worktree", "remove", "--force", "linked");
  repo.git("checkout", "-q", "main");
  await hears(told, "ok");
  await on.driven(on.disk.headMoved());
  expect((await on.notebook.status()).notes).toBe(3);
  await everythingWorks(bench, noteId);
});

test("unsupported: a rebase of our branch in a linked working tree", async () => {
  const { on, repo, told, noteId } = await forked();
  repo.git("checkout", "-q", "side");
  repo.git("worktree", "add", "-q", "linked", "main");
  repo.tryGit("-C", "linked", "rebase", "side");
  await hears(told, "unsupported");
  await expect(on.update(noteId, "refused")).rejects.toMatchObject({ data: { state: "unsupported" } });
});

test("unsupported: files that a sparse checkout leaves out were not deleted by anybody", async () => {
  const bench = await forked();
  const { on, repo, told, noteId } = bench;
  const { path } = await on.create("Kept", "kept", "notes/kept");
  repo.git("sparse-checkout", "set", "--no-cone", "notes/clash.md");
  await hears(told, "unsupported");
  await on.settle();
  await expect(on.update(noteId, "refused")).rejects.toMatchObject({ data: { state: "unsupported" } });
  expect(repo.git("show", `main:${path}`)).toContain("kept");
  repo.git("sparse-checkout", "disable");
  await hears(told, "ok");
  await everythingWorks(bench, noteId);
  expect(repo.git("show", `main:${path}`)).toContain("kept");
});

test("unsupported: an index of version 4 is told with what to run", async () => {
  const bench = await forked();
  const { on, repo, told, noteId } = bench;
  repo.git("update-index", "--index-version", "4");
  await hears(told, "unsupported");
  expect(told.at(-1)).toMatchObject({ path: "index", why: expect.stringContaining("--index-version 2") });
  await expect(on.update(noteId, "refused")).rejects.toMatchObject({
    message: expect.stringContaining("--index-version 2"),
  });
  repo.git("update-index", "--index-version", "2");
  await hears(told, "ok");
  expect(on.warnings.splice(0).every((line) => line.includes("--index-version 2"))).toBe(true);
  await everythingWorks(bench, noteId);
});
