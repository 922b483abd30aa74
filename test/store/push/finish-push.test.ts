/** What a receive-pack leaves that is killed between working tree and branch. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { finishPush } from "../../../src/store/push/finish-push.ts";
import { git, removeFolder, tempFolder } from "../../support/daemon.ts";

let root: string;
let old: CommitId;
let pushed: CommitId;
const place = () => ({ root, gitdir: join(root, ".git"), ref: "refs/heads/main" });
const save = (name: string, text: string) => writeFileSync(join(root, name), text);
const read = (name: string) => readFileSync(join(root, name), "utf8");
const tip = () => git(root, "rev-parse", "main");
beforeEach(() => {
  root = tempFolder();
  git(root, "init", "-q", "-b", "main");
  git(root, "config", "user.name", "Pat");
  git(root, "config", "user.email", "pat@example.com");
  const commit = (message: string) => {
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", message);
    // What rev-parse prints is a commit id.
    return tip() as CommitId;
  };
  save("a.md", "a, old\n");
  save("b.md", "b, old\n");
  save("d.md", "d\n");
  old = commit("old");
  save("a.md", "a, new\n");
  save("b.md", "b, new\n");
  save("c.md", "c\n");
  rmSync(join(root, "d.md"));
  pushed = commit("pushed");
  git(root, "checkout", "-q", "-B", "main", old);
});
afterEach(() => removeFolder(root));

test("files and index stand at the new commit: the branch follows", async () => {
  git(root, "read-tree", "-m", "-u", old, pushed);
  expect(await finishPush(place(), old, pushed, process.env)).toBe(true);
  expect(tip()).toBe(pushed);
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "log", "-g", "-1", "--format=%gs", "main")).toBe("push: finished");
});

test("only some files came, or a person saved them: none is touched", async () => {
  save("a.md", "a, new\n");
  save("b.md", "b, by hand\n");
  rmSync(join(root, "d.md"));
  expect(await finishPush(place(), old, pushed, process.env)).toBe(false);
  expect([tip(), read("a.md"), read("b.md")]).toEqual([old, "a, new\n", "b, by hand\n"]);
  expect(existsSync(join(root, "d.md"))).toBe(false);
});

test("a refused push that changes no file, or whose objects never came, moves nothing", async () => {
  const tree = git(root, "rev-parse", `${old}^{tree}`);
  // What commit-tree prints is a commit id.
  const same = git(root, "commit-tree", "-p", old, "-m", "empty", tree) as CommitId;
  expect(await finishPush(place(), old, same, process.env)).toBe(false);
  // Forty hex digits.
  const absent = "b".repeat(40) as CommitId;
  expect(await finishPush(place(), old, absent, process.env)).toBe(false);
  expect(tip()).toBe(old);
});

test("nothing came, or HEAD is elsewhere: nothing is done", async () => {
  expect(await finishPush(place(), old, pushed, process.env)).toBe(false);
  expect(git(root, "status", "--porcelain")).toBe("");
  git(root, "checkout", "-q", "-b", "topic", pushed);
  expect(await finishPush(place(), old, pushed, process.env)).toBe(false);
  expect(tip()).toBe(old);
});
