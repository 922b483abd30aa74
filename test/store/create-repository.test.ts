import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRepository, trackedPaths } from "../../src/store/create-repository.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "notesd-create-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const git = (...args: string[]) => execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" }).trim();

test("Git finds a clean sha1 repository with one commit and its reflog", async () => {
  const commit = await createRepository({
    dir,
    branch: "main",
    files: { ".gitattributes": "*.md -text\n" },
    subject: "init: attributes",
    author: { name: "Pat", email: "pat@example.org" },
    committer: { name: "notesd", email: "notesd@notesd.invalid" },
    atMs: Date.parse("2026-11-30T10:15:00Z"),
  });
  expect(git("rev-parse", "HEAD", "--abbrev-ref", "HEAD")).toBe(`${commit}\nmain`);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("fsck", "--strict")).toBe("");
  expect(git("log", "--format=%an %ae %cn %s %at")).toBe(
    "Pat pat@example.org notesd init: attributes 1796033700",
  );
  expect(git("reflog", "--format=%gs")).toBe("commit (initial): init: attributes");
  expect(git("rev-parse", "--show-object-format")).toBe("sha1");
  expect(await trackedPaths(dir, join(dir, ".git"))).toEqual([".gitattributes"]);
});
