/** What people's repositories and habits look like: each is served, or refused with the reason. */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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

async function opened(repo: GitRepo = gitRepo()): Promise<NotebookOnGit> {
  asInitLeavesIt(repo);
  on = await notebookOnGit(repo);
  await on.driven(on.disk.scanAll("start"));
  return on;
}

const ids = ({ notebook }: NotebookOnGit) =>
  notebook
    .list({ filter: {}, viewer: { kind: "person" }, limit: 100, cursor: null })
    .items.map(({ note_id, path }) => [path, note_id])
    .sort();

const idAt = (notes: NotebookOnGit, path: string) => ids(notes).find(([at]) => at === path)?.[1];

/** Index and files are what Git says, and nothing waits. */
async function level(notes: NotebookOnGit): Promise<void> {
  expect(notes.repo.git("status", "--porcelain")).toBe("");
  expect(await notes.notebook.verify()).toMatchObject({ equal: true });
  expect(notes.warnings).toEqual([]);
}

test("git mv, committed by the person: a note keeps its id, with one in the file and without", async () => {
  const notes = await opened();
  const { repo } = notes;
  saveFile(repo.root, "notes/plain.md", "# Plain\n\nno id in it\n");
  await notes.settle();
  const plain = idAt(notes, "notes/plain.md");
  const made = await notes.create("Own id", "text");
  repo.git("mv", "notes/plain.md", "notes/moved.md");
  repo.git("mv", made.path ?? "", "notes/own.md");
  await notes.settle();
  // Staged: it waits for its owner's commit.
  expect(repo.git("status", "--porcelain")).not.toBe("");
  repo.git("commit", "-q", "-m", "moved");
  await notes.driven(notes.disk.headMoved());
  expect(ids(notes)).toEqual([
    ["notes/moved.md", plain],
    ["notes/own.md", made.noteId],
  ]);
  const { items } = await notes.notebook.history({ noteId: plain as NoteId }, 10, null);
  expect(items.map(({ action }) => action)).toEqual(["rename", "create"]);
  await level(notes);
});

test("an id that is edited by hand names another note from then on; one that is taken out gives the path's", async () => {
  const notes = await opened();
  const made = await notes.create("Own id", "text");
  const path = made.path ?? "";
  const file = join(notes.repo.root, path);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/^id: .*$/m, "id: chosen-by-hand"));
  await notes.settle();
  expect(ids(notes)).toEqual([[path, "chosen-by-hand"]]);
  await expect(notes.driven(notes.notebook.read(made.noteId, PERSON))).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  writeFileSync(file, text.replace(/^id: .*\n/m, ""));
  await notes.settle();
  expect(idAt(notes, path)).toMatch(/^f_[a-z2-7]{16}$/);
  expect(readFileSync(file, "utf8")).not.toContain("id:");
  await level(notes);
});

test("a file copied with its id: the first keeps it, the copy is served under its path's and reported", async () => {
  const notes = await opened();
  const made = await notes.create("Original", "text");
  copyFileSync(join(notes.repo.root, made.path ?? ""), join(notes.repo.root, "notes/copy.md"));
  await notes.settle();
  expect(idAt(notes, made.path ?? "")).toBe(made.noteId);
  expect(idAt(notes, "notes/copy.md")).toMatch(/^f_/);
  const { duplicates } = await notes.notebook.status();
  expect(duplicates).toEqual([
    { id: made.noteId, kept: made.path, other: "notes/copy.md", servedAs: idAt(notes, "notes/copy.md") },
  ]);
  await notes.update(made.noteId, "changed");
  expect(readFileSync(join(notes.repo.root, "notes/copy.md"), "utf8")).toContain("text");
  await level(notes);
});

test("names in NFC and NFD: one of each is a note under the same id on every machine, both are two notes", async () => {
  const notes = await opened();
  const nfc = "notes/caf\u00e9.md";
  const nfd = "notes/cafe\u0301.md";
  saveFile(notes.repo.root, nfd, "# One\n");
  await notes.settle();
  const first = idAt(notes, nfd);
  saveFile(notes.repo.root, nfc, "# Two\n");
  await notes.settle();
  expect(idAt(notes, nfd)).toBe(first);
  expect(idAt(notes, nfc)).not.toBe(first);
  expect(ids(notes)).toHaveLength(2);
  await level(notes);
  const other = await opened();
  saveFile(other.repo.root, nfc, "# One\n");
  await other.settle();
  expect(idAt(other, nfc)).toBe(first);
});

test("a rename that only changes case keeps the note's id, by hand and by git mv", async () => {
  const notes = await opened();
  const path = (name: string) => join(notes.repo.root, "notes", name);
  saveFile(notes.repo.root, "notes/readme.md", "# Read me\n\nplease\n");
  await notes.settle();
  const id = idAt(notes, "notes/readme.md");
  renameSync(path("readme.md"), path("README.md"));
  await notes.settle();
  expect(ids(notes)).toEqual([["notes/README.md", id]]);
  notes.repo.git("mv", "notes/README.md", "notes/ReadMe.md");
  notes.repo.git("commit", "-q", "-m", "case");
  await notes.driven(notes.disk.headMoved());
  expect(ids(notes)).toEqual([["notes/ReadMe.md", id]]);
  await level(notes);
});

test("core.autocrlf with init's attributes: bytes stay as they were saved, through a checkout and back", async () => {
  const repo = gitRepo();
  repo.git("config", "core.autocrlf", "true");
  saveFile(repo.root, ".git/info/attributes", "notes/**/*.md -text -filter -ident merge=notesd\n");
  const notes = await opened(repo);
  const texts = { "notes/crlf.md": "# Windows\r\n\r\ntext\r\n", "notes/lf.md": "# Unix\n\ntext\n" };
  for (const [path, text] of Object.entries(texts)) saveFile(repo.root, path, text);
  await notes.settle();
  repo.git("checkout", "-q", "--orphan", "other");
  repo.git("rm", "-rfq", ".");
  repo.git("commit", "-q", "--allow-empty", "-m", "empty");
  repo.git("checkout", "-q", "main");
  for (const [path, text] of Object.entries(texts)) {
    expect(readFileSync(join(repo.root, path), "utf8")).toBe(text);
    expect(repo.gitBytes(["cat-file", "blob", `main:${path}`]).toString()).toBe(text);
  }
  await notes.settle();
  await level(notes);
});

test("a shallow clone is served: its history begins where it was cut, and says that it is cut", async () => {
  const source = gitRepo();
  for (const text of ["one", "two", "three"]) {
    saveFile(source.root, "notes/page.md", `# Page\n\n${text}\n`);
    source.git("add", "-A");
    source.git("commit", "-q", "-m", text);
  }
  const root = join(temporaryFolder(), "clone");
  source.git("clone", "-q", "--depth", "2", `file://${source.root}`, root);
  const notes = await opened(repoAt(root));
  const page = idAt(notes, "notes/page.md") as NoteId;
  await notes.change({ kind: "append", noteId: page, content: "four" });
  const of = (limit: number) => notes.notebook.history({ noteId: page }, limit, null);
  expect((await of(10)).items.map(({ action }) => action)).toEqual(["append", "update", "create"]);
  expect(await of(10)).toMatchObject({ isCut: true });
  expect(await of(2)).toMatchObject({ isCut: false });
  await level(notes);
  expect(notes.repo.git("fsck", "--strict", "--no-dangling")).toBe("");
  expect(notes.repo.git("rev-list", "--count", "main")).toBe("3");
});

test("a submodule among the notes is not looked into, and nothing of it is ever committed by us", async () => {
  const inner = gitRepo();
  saveFile(inner.root, "inside.md", "# Inside\n");
  inner.git("add", "-A");
  inner.git("commit", "-q", "-m", "inside");
  const repo = gitRepo();
  repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "notes/sub");
  repo.git("commit", "-q", "-m", "submodule");
  const notes = await opened(repo);
  saveFile(repo.root, "notes/sub/inside.md", "# Inside\n\nedited\n");
  saveFile(repo.root, "notes/sub/more.md", "# More\n");
  saveFile(repo.root, "notes/mine.md", "# Mine\n");
  await notes.settle();
  expect(ids(notes).map(([path]) => path)).toEqual(["notes/mine.md"]);
  expect(repo.git("ls-tree", "main:notes", "sub")).toMatch(/^160000 commit/);
  await expect(notes.create("In it", "text", "notes/sub")).rejects.toMatchObject({ code: "CONFLICT" });
  const made = await notes.create("Beside it", "text");
  expect(repo.git("status", "--porcelain", "--ignore-submodules=dirty")).toBe("");
  expect(made.path).not.toContain("sub");
});

test("a repository that is itself a submodule is served from its own working tree", async () => {
  const inner = gitRepo();
  inner.git("commit", "-q", "--allow-empty", "-m", "first");
  const outer = gitRepo();
  outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "vault");
  const root = join(outer.root, "vault");
  const gitdir = repoAt(root).git("rev-parse", "--absolute-git-dir");
  const notes = await opened({ ...repoAt(root), gitdir });
  await notes.create("In a submodule", "text");
  saveFile(root, "notes/by-hand.md", "# By hand\n");
  await notes.settle();
  expect(ids(notes)).toHaveLength(2);
  await level(notes);
});
