/** Bringing notes back through a real daemon, beside a person's Git: what the files, the index and Git then hold. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { git, notesd, servedRepo } from "../support/daemon.ts";

const served = servedRepo();
const file = (path: string) => join(served.repo, path);
const cli = (...args: string[]) => notesd([...args, "--repo", served.repo]);

async function note(title: string): Promise<{ note_id: string; path: string; commit: string }> {
  return served.rpc.call("notes.create", { title, content: "first\n", reason: "to begin with" });
}

test("a deleted note comes back at its place, and Git sees nothing to do", async () => {
  const { note_id, path, commit } = await note("Deleted");
  const before = readFileSync(file(path), "utf8");
  await served.rpc.call("notes.delete", { note_id });
  expect(existsSync(file(path))).toBe(false);
  expect(cli("restore", note_id, commit, "--reason", "still needed")).toContain(`updated ${note_id}`);
  const undated = (text: string) => text.replace(/^updated_at: .*$/m, "");
  expect(undated(readFileSync(file(path), "utf8"))).toBe(undated(before));
  expect(git(served.repo, "status", "--porcelain")).toBe("");
  expect(git(served.repo, "log", "-1", "--format=%s")).toBe("restore(general): Deleted");
  expect(await served.rpc.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
});

test("a note that git mv moved and changed goes back, and its new file is gone", async () => {
  const { note_id, path, commit } = await note("Moved");
  mkdirSync(file("notes/elsewhere"), { recursive: true });
  git(served.repo, "mv", path, "notes/elsewhere/moved.md");
  git(served.repo, "commit", "-qm", "moved");
  await served.rpc.call("notes.append", { note_id, content: "second\n" });
  expect(await served.rpc.call("notes.read", { note_id })).toMatchObject({
    metadata: { path: "notes/elsewhere/moved.md" },
  });
  await served.rpc.call("notes.restore", { note_id, at: commit });
  expect(await served.rpc.call("notes.read", { note_id })).toMatchObject({
    content: "first\n",
    metadata: { path },
  });
  expect(existsSync(file("notes/elsewhere/moved.md"))).toBe(false);
  expect(git(served.repo, "status", "--porcelain")).toBe("");
  expect(cli("diff", note_id)).toContain(`rename to ${path}\n`);
  expect(cli("blame", note_id)).toMatch(/^\S+ \S+ +\S+ +\d+\) first$/m);
});

test("what a person put at the old path stays, and the restore says where it is in the way", async () => {
  const { note_id, path, commit } = await note("Taken");
  await served.rpc.call("notes.delete", { note_id });
  mkdirSync(dirname(file(path)), { recursive: true });
  writeFileSync(file(path), "mine\n");
  await served.rpc.call("notes.commit");
  await expect(served.rpc.call("notes.restore", { note_id, at: commit })).rejects.toMatchObject({
    code: 409,
    data: { reason: "path_taken", path },
  });
  expect(readFileSync(file(path), "utf8")).toBe("mine\n");
});

test("review, log and the mark work on a real daemon, in a process of their own", async () => {
  await served.rpc.call("notes.create", {
    title: "We keep the old cache",
    content: "It is fast enough.\n",
    note_type: "conclusion",
    reason: "Measured on friday",
  });
  const text = cli("review", "--mark");
  expect(text).toMatch(
    /Decided \(1\)\n {2}We keep the old cache\n {4}It is fast enough\.\n {4}why: Measured on friday\n/,
  );
  expect(cli("review")).toContain("Nothing was written.");
  expect(cli("log", "--type", "conclusion")).toContain("We keep the old cache\n    Measured on friday\n");
  expect(git(served.repo, "for-each-ref", "refs/notesd/review")).toContain("refs/notesd/review/");
  expect(git(served.repo, "notesd-log", "-1")).toContain(
    "create(conclusion): We keep the old cache\n    Measured on friday",
  );
});
