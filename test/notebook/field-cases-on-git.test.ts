/** What went wrong for people beside other tools, each on a real repository with the person's own Git. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { NoteId } from "../../src/domain/note.ts";
import { type GitRepo, gitRepo, repoAt, temporaryFolder } from "../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../support/notebook-on-git.ts";
import { PERSON } from "../support/open-notebook.ts";
import { saveFile } from "../support/save-file.ts";

let on: NotebookOnGit | null = null;
afterEach(async () => {
  await on?.close();
  on = null;
});

/** A notebook with one page on its branch, and a clone of it where somebody else works. */
async function withClone() {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  saveFile(repo.root, "notes/page.md", "# Page\n\none\n\ntwo\n\nthree\n");
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "page");
  const root = join(temporaryFolder(), "clone");
  repo.git("clone", "-q", repo.root, root);
  const clone = repoAt(root);
  repo.git("remote", "add", "other", root);
  on = await notebookOnGit(repo);
  await on.driven(on.disk.scanAll("start"));
  const page = "notes/page.md";
  const text = (path = page) => readFileSync(join(repo.root, path), "utf8");
  return { notes: on, repo, clone, page, text };
}

function commit(repo: GitRepo, path: string, text: string | null): void {
  saveFile(repo.root, path, text);
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", `${path} elsewhere`);
}

/** As the watchers would have it seen. */
async function seen(notes: NotebookOnGit): Promise<void> {
  await notes.driven(notes.disk.headMoved());
  await notes.settle();
}

async function level(notes: NotebookOnGit): Promise<void> {
  expect(notes.repo.git("status", "--porcelain")).toBe("");
  expect(notes.repo.git("write-tree")).toBe(notes.repo.git("rev-parse", "main^{tree}"));
  expect(await notes.notebook.verify()).toMatchObject({ equal: true });
  expect(notes.warnings).toEqual([]);
}

const rows = ({ notebook }: NotebookOnGit) =>
  notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 100, cursor: null }).items;

test("a pull by fast-forward is not reverted, and an edit that waits beside it is not discarded", async () => {
  const { notes, repo, clone, page, text } = await withClone();
  commit(clone, page, "# Page\n\none\n\ntwo\n\nthree, pulled\n");
  saveFile(repo.root, "notes/mine.md", "# Mine\n\nwaits\n");
  repo.git("pull", "-q", "--ff-only", "other", "main");
  await seen(notes);
  expect(text()).toContain("three, pulled");
  expect(repo.git("show", `main:${page}`)).toContain("three, pulled");
  expect(repo.git("show", "main:notes/mine.md")).toContain("waits");
  await level(notes);
});

test("a branch that is moved under an edited file keeps both texts", async () => {
  const { notes, repo, clone, page, text } = await withClone();
  commit(clone, page, "# Page\n\none\n\ntwo\n\nthree, pushed\n");
  saveFile(repo.root, page, "# Page\n\none, edited\n\ntwo\n\nthree\n");
  repo.git("fetch", "-q", "--update-head-ok", "other", "main:main");
  await seen(notes);
  expect(text()).toBe("# Page\n\none, edited\n\ntwo\n\nthree, pushed\n");
  await level(notes);
});

test("a branch that is moved under a file that a person edits for longer: theirs adopted, and a note written meanwhile, take nothing back", async () => {
  const { notes, repo, clone, page } = await withClone();
  commit(clone, page, null);
  saveFile(repo.root, page, "# Page\n\nedited here\n");
  repo.git("fetch", "-q", "--update-head-ok", "other", "main:main");
  await notes.create("Meanwhile", "text");
  await seen(notes);
  expect(repo.git("show", `main:${page}`)).toContain("edited here");
  await level(notes);
});

test("two clones that minted one id, merged by the person: both notes stay, the earlier keeps the id", async () => {
  const { notes, repo, clone } = await withClone();
  const made = await notes.create("Here", "text here");
  const there = readFileSync(join(repo.root, made.path ?? ""), "utf8").replaceAll(/[Hh]ere/g, "there");
  saveFile(clone.root, "notes/there.md", there);
  clone.git("add", "-A");
  clone.git("commit", "-q", "-m", "there", "--date=2030-01-01T00:00:00Z");
  repo.git("pull", "-q", "--no-rebase", "--no-edit", "other", "main");
  await seen(notes);
  const found = rows(notes).filter(({ path }) => path === made.path || path === "notes/there.md");
  expect(found).toHaveLength(2);
  expect(found.find(({ path }) => path === made.path)?.note_id).toBe(made.noteId);
  expect(found.find(({ path }) => path === "notes/there.md")?.note_id).toMatch(/^f_/);
  expect((await notes.notebook.status()).duplicates).toHaveLength(1);
  await level(notes);
});

test("a note that is new here and missing there was not deleted there", async () => {
  const { notes, repo, clone, page } = await withClone();
  const made = await notes.create("New here", "text");
  commit(clone, page, "# Page\n\nchanged there\n");
  repo.git("pull", "-q", "--no-rebase", "--no-edit", "other", "main");
  await seen(notes);
  expect(existsSync(join(repo.root, made.path ?? ""))).toBe(true);
  expect((await notes.driven(notes.notebook.read(made.noteId, PERSON))).content).toContain("text");
  await level(notes);
});

test("deleted there and edited here: the person's merge stops, nothing is taken for a deletion meanwhile", async () => {
  const { notes, repo, clone, page, text } = await withClone();
  commit(clone, page, null);
  saveFile(repo.root, page, "# Page\n\nedited here\n");
  await notes.settle();
  expect(repo.tryGit("pull", "-q", "--no-rebase", "--no-edit", "other", "main").status).not.toBe(0);
  await seen(notes);
  expect((await notes.notebook.status()).state.state).toBe("merge");
  expect(repo.git("show", `main:${page}`)).toContain("edited here");
  repo.git("add", page);
  repo.git("commit", "-q", "--no-edit");
  await seen(notes);
  expect(text()).toContain("edited here");
  await level(notes);
});

test("history that was rewritten and is taken over by a hard reset: no file is wiped, what fell away is in the reflog", async () => {
  const { notes, repo, clone } = await withClone();
  const made = await notes.create("Will fall away", "fallen");
  commit(clone, "notes/kept.md", "# Kept\n");
  clone.git("commit", "-q", "--amend", "-m", "rewritten");
  repo.git("fetch", "-q", "other");
  repo.git("reset", "-q", "--hard", "other/main");
  await seen(notes);
  expect(
    rows(notes)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["notes/kept.md", "notes/page.md"]);
  expect(repo.git("log", "-g", "--format=%H", "main")).toContain(made.commit);
  await level(notes);
});

test("unrelated histories that a person merges are one notebook", async () => {
  const { notes, repo } = await withClone();
  const stranger = gitRepo();
  commit(stranger, "notes/stranger.md", "# Stranger\n");
  repo.git("pull", "-q", "--no-rebase", "--no-edit", "--allow-unrelated-histories", stranger.root, "main");
  await seen(notes);
  expect(
    rows(notes)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["notes/page.md", "notes/stranger.md"]);
  await level(notes);
});

test("conflict markers swept in by git add -A: the last clean text is served and flagged; a fence that shows markers is text", async () => {
  const { notes, repo, clone, page } = await withClone();
  commit(clone, page, "# Page\n\nthere\n");
  commit(repo, page, "# Page\n\nhere\n");
  await seen(notes);
  repo.tryGit("pull", "-q", "--no-rebase", "--no-edit", "other", "main");
  repo.git("add", "-A");
  repo.git("commit", "-q", "--no-edit");
  saveFile(
    repo.root,
    "notes/fence.md",
    "# How markers look\n\n```\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n```\n",
  );
  await seen(notes);
  const idAt = (path: string) => rows(notes).find((note) => note.path === path)?.note_id as NoteId;
  const read = (path: string) => notes.driven(notes.notebook.read(idAt(path), PERSON));
  expect(await read(page)).toMatchObject({ conflicted: true, content: expect.stringContaining("here") });
  expect((await read(page)).content).not.toContain("<<<<<<<");
  expect(await read("notes/fence.md")).toMatchObject({
    conflicted: false,
    content: expect.stringContaining("<<<<<<< ours"),
  });
  await level(notes);
});

test("a symbolic link that arrives by a pull is no note, is never followed, and nothing is written through it", async () => {
  const { notes, repo, clone } = await withClone();
  const outside = join(temporaryFolder(), "outside.md");
  writeFileSync(outside, "# Secret\n");
  for (const [name, target] of [
    ["notes/link.md", outside],
    ["notes/dangling.md", "/nowhere/x.md"],
    ["notes/folder", temporaryFolder()],
  ] as const)
    symlinkSync(target, join(clone.root, name));
  clone.git("add", "-A");
  clone.git("commit", "-q", "-m", "links");
  repo.git("pull", "-q", "--ff-only", "other", "main");
  await seen(notes);
  expect(rows(notes).map(({ path }) => path)).toEqual(["notes/page.md"]);
  await expect(notes.create("Through it", "text", "notes/folder")).rejects.toMatchObject({
    code: "CONFLICT",
  });
  expect(readFileSync(outside, "utf8")).toBe("# Secret\n");
  expect(repo.git("ls-tree", "main:notes", "link.md")).toMatch(/^120000/);
  await level(notes);
});

test("the index.lock of a Git that is gone is told with its name, never removed by us, and writes go on when it is", async () => {
  const { notes, repo } = await withClone();
  writeFileSync(join(repo.gitdir, "index.lock"), "");
  await expect(notes.create("Waits", "text")).rejects.toMatchObject({
    code: "REPO_BUSY",
    data: { state: "locked", path: "index.lock" },
  });
  expect(existsSync(join(repo.gitdir, "index.lock"))).toBe(true);
  rmSync(join(repo.gitdir, "index.lock"));
  await notes.create("Goes on", "text");
  await level(notes);
});
