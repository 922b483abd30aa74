/**
 * Native Git reads HEAD or the index first and takes its locks later. What a write of ours does in between must
 * survive: each race is laid out here step by step, as the Git command would have left it.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, servedRepo } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const served = servedRepo();

let next = 0;
const write = () => served.rpc.call("notes.create", { title: `Note ${++next}`, content: `Text ${next}.` });
const head = () => git(served.repo, "rev-parse", "HEAD");
const level = () =>
  until("files and index to be level", () => git(served.repo, "status", "--porcelain") === "");

async function expectKept(note: { note_id: string; path: string; commit: string }): Promise<void> {
  expect((await served.rpc.call("notes.read", { note_id: note.note_id })).content).toMatch(/^Text/);
  expect(existsSync(join(served.repo, note.path))).toBe(true);
  expect(git(served.repo, "ls-tree", "--name-only", "HEAD", "--", note.path)).toBe(note.path);
  git(served.repo, "merge-base", "--is-ancestor", note.commit, "HEAD");
}

test("git stash and git reset --hard that moved the branch over a write: the write is brought back", async () => {
  const before = head();
  const note = await write();
  git(served.repo, "read-tree", "--reset", "-u", before);
  git(served.repo, "update-ref", "-m", "reset: moving to HEAD", "HEAD", before);
  await until(
    "the write to be back",
    () => head() !== before && git(served.repo, "merge-base", "--is-ancestor", note.commit, "HEAD") === "",
  );
  await level();
  await expectKept(note);
});

test("a reset that names its commit is an undo, and stands", async () => {
  const before = head();
  const note = await write();
  git(served.repo, "reset", "--hard", "-q", before);
  const read = await until("the note to be gone", async () => {
    const reply = await served.rpc.reply("notes.read", { note_id: note.note_id });
    return reply.error ?? null;
  });
  expect(read.code).toBe(404);
  await write();
  expect(existsSync(join(served.repo, note.path))).toBe(false);
});

test("a soft reset right after a write keeps the file, as the person's own edit", async () => {
  const note = await write();
  git(served.repo, "reset", "--soft", "-q", "HEAD~1");
  git(served.repo, "reset", "-q");
  await served.rpc.call("notes.commit", {});
  expect(existsSync(join(served.repo, note.path))).toBe(true);
  expect((await served.rpc.call("notes.read", { note_id: note.note_id })).metadata.trust).toBe("disk");
});

test("an index that was read before a write and put back after it is put level by itself", async () => {
  const before = head();
  const note = await write();
  git(served.repo, "read-tree", before);
  await level();
  await expectKept(note);
});

test("a commit on such an index keeps the write, and takes what the person staged", async () => {
  const before = head();
  const note = await write();
  git(served.repo, "read-tree", before);
  writeFileSync(join(served.repo, "staged.txt"), "staged\n");
  git(served.repo, "add", "staged.txt");
  git(served.repo, "commit", "-q", "-m", "right after");
  expect(git(served.repo, "show", "--name-only", "--format=", "HEAD")).toBe("staged.txt");
  await expectKept(note);
});

test("HEAD that comes back without the writes made meanwhile: a commit at once keeps them", async () => {
  git(served.repo, "checkout", "-q", "-b", "topic");
  const note = await write();
  git(served.repo, "symbolic-ref", "HEAD", "refs/heads/main");
  writeFileSync(join(served.repo, "back.txt"), "back\n");
  git(served.repo, "add", "back.txt");
  git(served.repo, "commit", "-q", "-m", "back on main");
  expect(git(served.repo, "show", "--name-only", "--format=", "HEAD")).toBe("back.txt");
  await level();
  await expectKept(note);
});

test("what a person staged of a note stays staged beside writes, and is theirs to commit", async () => {
  const note = await write();
  appendFileSync(join(served.repo, note.path), "a line of the person's\n");
  git(served.repo, "add", note.path);
  await write();
  expect(git(served.repo, "diff", "--cached", "--name-only")).toBe(note.path);
  git(served.repo, "commit", "-q", "-m", "the person's line");
  expect(git(served.repo, "show", "--name-only", "--format=", "HEAD")).toBe(note.path);
  expect(git(served.repo, "show", `HEAD:${note.path}`)).toContain("a line of the person's");
});
