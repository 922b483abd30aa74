/**
 * Native Git reads HEAD or the index first and takes its locks later. What a write of ours does in between must
 * survive: each race is laid out here step by step, as the Git command would have left it.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  git,
  initRepo,
  openRpc,
  type Rpc,
  type RunningDaemon,
  removeFolder,
  startDaemon,
} from "../support/daemon.ts";
import { until } from "../support/wait.ts";

let repo: string;
let daemon: RunningDaemon;
let rpc: Rpc;
beforeAll(async () => {
  repo = initRepo();
  daemon = await startDaemon(repo);
  rpc = await openRpc(daemon.url, daemon.token);
});
afterAll(async () => {
  rpc.close();
  await daemon.stop();
  removeFolder(join(repo, ".."));
});

let next = 0;
const write = () => rpc.call("notes.create", { title: `Note ${++next}`, content: `Text ${next}.` });
const head = () => git(repo, "rev-parse", "HEAD");
const level = () => until("files and index to be level", () => git(repo, "status", "--porcelain") === "");

async function expectKept(note: { note_id: string; path: string; commit: string }): Promise<void> {
  expect((await rpc.call("notes.read", { note_id: note.note_id })).content).toMatch(/^Text/);
  expect(existsSync(join(repo, note.path))).toBe(true);
  expect(git(repo, "ls-tree", "--name-only", "HEAD", "--", note.path)).toBe(note.path);
  git(repo, "merge-base", "--is-ancestor", note.commit, "HEAD");
}

test("git stash and git reset --hard that moved the branch over a write: the write is brought back", async () => {
  const before = head();
  const note = await write();
  git(repo, "read-tree", "--reset", "-u", before);
  git(repo, "update-ref", "-m", "reset: moving to HEAD", "HEAD", before);
  await until(
    "the write to be back",
    () => head() !== before && git(repo, "merge-base", "--is-ancestor", note.commit, "HEAD") === "",
  );
  await level();
  await expectKept(note);
});

test("a reset that names its commit is an undo, and stands", async () => {
  const before = head();
  const note = await write();
  git(repo, "reset", "--hard", "-q", before);
  const read = await until("the note to be gone", async () => {
    const reply = await rpc.reply("notes.read", { note_id: note.note_id });
    return reply.error ?? null;
  });
  expect(read.code).toBe(404);
  await write();
  expect(existsSync(join(repo, note.path))).toBe(false);
});

test("a soft reset right after a write keeps the file, as the person's own edit", async () => {
  const note = await write();
  git(repo, "reset", "--soft", "-q", "HEAD~1");
  git(repo, "reset", "-q");
  await rpc.call("notes.commit", {});
  expect(existsSync(join(repo, note.path))).toBe(true);
  expect((await rpc.call("notes.read", { note_id: note.note_id })).metadata.trust).toBe("disk");
});

test("an index that was read before a write and put back after it is put level by itself", async () => {
  const before = head();
  const note = await write();
  git(repo, "read-tree", before);
  await level();
  await expectKept(note);
});

test("a commit on such an index keeps the write, and takes what the person staged", async () => {
  const before = head();
  const note = await write();
  git(repo, "read-tree", before);
  writeFileSync(join(repo, "staged.txt"), "staged\n");
  git(repo, "add", "staged.txt");
  git(repo, "commit", "-q", "-m", "right after");
  expect(git(repo, "show", "--name-only", "--format=", "HEAD")).toBe("staged.txt");
  await expectKept(note);
});

test("HEAD that comes back without the writes made meanwhile: a commit at once keeps them", async () => {
  git(repo, "checkout", "-q", "-b", "topic");
  const note = await write();
  git(repo, "symbolic-ref", "HEAD", "refs/heads/main");
  writeFileSync(join(repo, "back.txt"), "back\n");
  git(repo, "add", "back.txt");
  git(repo, "commit", "-q", "-m", "back on main");
  expect(git(repo, "show", "--name-only", "--format=", "HEAD")).toBe("back.txt");
  await level();
  await expectKept(note);
});

test("what a person really staged of a note stays staged", async () => {
  const note = await write();
  git(repo, "rm", "-q", "--cached", note.path);
  writeFileSync(join(repo, "more.txt"), "more\n");
  git(repo, "add", "more.txt");
  await write();
  git(repo, "commit", "-q", "-m", "more");
  expect(git(repo, "show", "--name-only", "--format=", "HEAD").split("\n")).toContain("more.txt");
});
