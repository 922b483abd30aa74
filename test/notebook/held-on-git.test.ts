/**
 * A person saves a secret, on a real repository: it gets into no object, no log and no file of ours, its note is
 * served and refuses writes, and everything else goes on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommitId, NoteId, RepoPath } from "../../src/domain/note.ts";
import { gitRepo, repoAt, temporaryFolder } from "../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../support/notebook-on-git.ts";
import { PERSON } from "../support/open-notebook.ts";
import { saveFile } from "../support/save-file.ts";
import { placesOf } from "../support/search-repository.ts";
import { tokenFingerprint, tokenOf } from "../support/secrets.ts";

const S = tokenOf("one");
let on: NotebookOnGit;
afterEach(async () => {
  await on.close();
  expect(placesOf(on.repo, S)).toEqual([]);
  expect(on.warnings.join("\n")).not.toContain(S);
});

async function opened(): Promise<NotebookOnGit> {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  repo.git("config", "user.name", "Ann");
  repo.git("config", "user.email", "ann@example.org");
  on = await notebookOnGit(repo);
  await on.driven(on.disk.scanAll("start"));
  return on;
}

const file = (path: string) => join(on.repo.root, path);
const textAt = (path: string) => readFileSync(file(path), "utf8");
const append = (path: string, text: string) => saveFile(on.repo.root, path, `${textAt(path)}${text}`);
const isHeld = {
  code: "CONFLICT",
  data: { reason: "held_edit", matches: [{ fingerprint: tokenFingerprint(S) }] },
};
const status = () => on.notebook.status();

/** A note of ours whose file a person gave a secret, held by now. */
async function heldNote(): Promise<{ noteId: NoteId; path: RepoPath }> {
  await opened();
  const { noteId, path } = await on.create("Deployment", "how to\n");
  if (path === null) throw new Error("no path");
  append(path, `token ${S}\n`);
  await on.settle();
  return { noteId, path };
}

/** A commit of somebody else's on top of the branch, as a sync or a push brings it. */
function theirs(path: string, edit: (text: string) => string | null): CommitId {
  const folder = temporaryFolder();
  on.repo.git("clone", "-q", on.repo.root, folder);
  const clone = repoAt(folder);
  const before = clone.tryGit("show", `HEAD:${path}`);
  saveFile(folder, path, edit(before.status === 0 ? before.stdout : ""));
  clone.git("add", "-A");
  clone.git("-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "-m", "theirs");
  on.repo.git("fetch", "-q", folder, "HEAD");
  return on.repo.git("rev-parse", "FETCH_HEAD") as CommitId;
}
const joined = (tip: CommitId) =>
  on.driven(on.notebook.join(tip, { author: { name: "P", email: "p@x" }, via: "sync", reason: null }));

test("its note is served as the branch has it, marked, and takes no write of any kind; others do", async () => {
  const { noteId, path } = await heldNote();
  const other = await on.create("Other", "text\n");
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    content: "how to\n",
    dirty: true,
  });
  const edit = { noteId, onConflict: "fail" as const };
  await expect(on.change({ kind: "update", ...edit, content: "all new\n" })).rejects.toMatchObject(isHeld);
  await expect(on.change({ kind: "append", noteId, content: "more\n" })).rejects.toMatchObject(isHeld);
  await expect(on.change({ kind: "delete", noteId }, PERSON)).rejects.toMatchObject(isHeld);
  await on.update(other.noteId, "changed\n");
  expect(textAt(path)).toContain(S);
  expect((await status()).held).toMatchObject([
    { path, matches: [{ kind: "github-token", fingerprint: tokenFingerprint(S) }] },
  ]);
  expect((await status()).reported).toMatchObject([
    { path, reason: expect.stringContaining(tokenFingerprint(S)) },
  ]);
  expect(on.notebook.held()).toMatchObject([{ path, why: "secret" }]);
  expect(on.repo.git("status", "--porcelain")).toBe(` M ${path}`);
});

test("without the secret it is adopted, and the note takes writes again", async () => {
  const { noteId, path } = await heldNote();
  saveFile(on.repo.root, path, textAt(path).replace(S, "in the vault"));
  await on.settle();
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    content: "how to\n\ntoken in the vault",
    dirty: false,
  });
  await on.update(noteId, "agent's\n");
  expect([(await status()).held, on.repo.git("status", "--porcelain")]).toEqual([[], ""]);
});

test("it is the same after a restart, and the stop says what stays", async () => {
  const { path } = await heldNote();
  const before = (await status()).held;
  const { warnings } = on;
  on = await on.reopen();
  expect(warnings.some((text) => text.startsWith("hand edits that hold a secret stay uncommitted"))).toBe(
    true,
  );
  expect(warnings.filter((text) => text.startsWith("a hand edit holds a secret"))).toHaveLength(1);
  await on.driven(on.disk.scanAll("start"));
  expect([(await status()).held, on.warnings]).toEqual([before, []]);
  expect(textAt(path)).toContain(S);
});

test("what comes in moves the branch past it, and is merged with what the person saves without the secret", async () => {
  const { noteId, path } = await heldNote();
  const tip = theirs(path, (text) => text.replace("title: Deployment", "title: Deploying"));
  expect(await joined(tip)).toMatchObject({ kind: "fast_forward" });
  expect(textAt(path)).toContain(S);
  expect(on.repo.git("diff", "--cached", "--name-only")).toBe("");
  await on.settle();
  expect((await status()).held).toMatchObject([{ path }]);
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    metadata: { title: "Deploying" },
    dirty: true,
  });
  saveFile(on.repo.root, path, textAt(path).replace(S, "in the vault"));
  await on.settle();
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    metadata: { title: "Deploying" },
    content: "how to\n\ntoken in the vault",
    dirty: false,
  });
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("an edit that was not looked at when something came in is held then, and the branch moves past it too", async () => {
  await opened();
  const { path } = await on.create("Deployment", "how to\n");
  append(path ?? "", `token ${S}\n`);
  const ours = await on.create("Other", "text\n");
  const tip = theirs(path ?? "", (text) => `${text}theirs\n`);
  await on.update(ours.noteId, "so that it is a merge\n");
  expect(await joined(tip)).toMatchObject({ kind: "merged" });
  expect((await status()).held).toMatchObject([{ path }]);
  expect(textAt(path ?? "")).toContain(S);
  expect(on.repo.git("show", `main:${path}`)).toContain("theirs");
});

test("a merge of two sides goes past it too, and a restart changes nothing about what is merged later", async () => {
  await opened();
  const { noteId, path } = await on.create("Deployment", "one\n\ntwo\n\nthree\n");
  if (path === null) throw new Error("no path");
  saveFile(on.repo.root, path, textAt(path).replace("three", `THREE ${S}`));
  await on.settle();
  const tip = theirs(path, (text) => text.replace("one", "ONE"));
  await on.create("Ours", "text\n");
  expect(await joined(tip)).toMatchObject({ kind: "merged" });
  on = await on.reopen();
  await on.driven(on.disk.scanAll("start"));
  expect((await status()).held).toMatchObject([{ path }]);
  saveFile(on.repo.root, path, textAt(path).replace(` ${S}`, ""));
  await on.settle();
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    content: "ONE\n\ntwo\n\nTHREE\n",
    dirty: false,
  });
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("a note that was moved and given a secret stays where it was, until it comes along under its id", async () => {
  await opened();
  const { noteId, path } = await on.create("Deployment", "how to\n");
  if (path === null) throw new Error("no path");
  saveFile(on.repo.root, "notes/moved.md", `${textAt(path)}token ${S}\n`);
  saveFile(on.repo.root, path, null);
  await on.settle();
  expect((await status()).held.map((edit) => edit.path)).toEqual(["notes/moved.md"]);
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    content: "how to\n",
    dirty: true,
  });
  await expect(on.update(noteId, "agent's\n")).rejects.toMatchObject(isHeld);
  on = await on.reopen();
  await on.driven(on.disk.scanAll("start"));
  await on.settle();
  expect((await status()).held.map((edit) => edit.path)).toEqual(["notes/moved.md"]);
  saveFile(on.repo.root, "notes/moved.md", textAt("notes/moved.md").replace(S, "in the vault"));
  await on.settle();
  expect(await on.driven(on.notebook.read(noteId, PERSON))).toMatchObject({
    metadata: { path: "notes/moved.md" },
    content: "how to\n\ntoken in the vault",
    dirty: false,
  });
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("what comes in for a note that waits where it was moved to moves the branch, and neither text is lost", async () => {
  await opened();
  const { path } = await on.create("Deployment", "how to\n");
  if (path === null) throw new Error("no path");
  saveFile(on.repo.root, "notes/moved.md", `${textAt(path)}token ${S}\n`);
  saveFile(on.repo.root, path, null);
  await on.settle();
  const tip = theirs(path, (text) => text.replace("title: Deployment", "title: Deploying"));
  expect(await joined(tip)).toMatchObject({ kind: "fast_forward" });
  await on.settle();
  expect((await status()).held.map((edit) => edit.path)).toEqual(["notes/moved.md"]);
  saveFile(on.repo.root, "notes/moved.md", textAt("notes/moved.md").replace(S, "in the vault"));
  await on.settle();
  expect(on.repo.git("show", `main:${path}`)).toContain("title: Deploying");
  expect(on.repo.git("show", "main:notes/moved.md")).toContain("token in the vault");
});

test("a new file waits, also one that another without an id was renamed to; the rest does not", async () => {
  await opened();
  saveFile(on.repo.root, "notes/old.md", "# Old\n\ntext\n");
  await on.settle();
  saveFile(on.repo.root, "notes/old.md", null);
  saveFile(on.repo.root, "notes/moved.md", `# Old\n\ntext ${S}\n`);
  saveFile(on.repo.root, "notes/new.md", `${S}\n`);
  saveFile(on.repo.root, "notes/fine.md", "fine\n");
  await on.settle();
  expect((await status()).held.map(({ path }) => path)).toEqual(["notes/moved.md", "notes/new.md"]);
  expect(on.repo.git("ls-tree", "-r", "--name-only", "main").split("\n")).toContain("notes/fine.md");
});

test("a person's checkout of another branch, and back, changes nothing about it", async () => {
  const { path } = await heldNote();
  const before = (await status()).held;
  on.repo.git("checkout", "-q", "-b", "elsewhere");
  await on.driven(on.disk.headMoved());
  expect((await status()).held).toEqual([]);
  await on.create("While away", "text\n");
  on.repo.git("checkout", "-q", "main");
  await on.driven(on.disk.headMoved());
  await on.settle();
  expect((await status()).held).toEqual(before);
  expect(textAt(path)).toContain(S);
});
