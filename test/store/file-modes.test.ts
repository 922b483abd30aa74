import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { draft } from "../support/drafts.ts";
import { storeOnGit } from "../support/store-on-git.ts";

test("a new file that a person made executable is committed so, and keeps that through our writes", async () => {
  const { repo, store, save } = await storeOnGit();
  save("notes/a.md", "one\n");
  chmodSync(join(repo.root, "notes/a.md"), 0o755);
  await store.commit([draft("notes/a.md", "one\n", null, { origin: "disk" })]);
  expect(repo.git("ls-tree", "HEAD", "notes/a.md")).toMatch(/^100755 /);
  expect(repo.git("status", "--porcelain")).toBe("");
  await store.commit([draft("notes/a.md", "two\n", "one\n")]);
  expect(repo.git("ls-tree", "HEAD", "notes/a.md")).toMatch(/^100755 /);
  expect(repo.git("status", "--porcelain")).toBe("");
  await store.close();
});

test("where Git does not look at modes, nothing is executable", async () => {
  const { repo, store, save, reopen } = await storeOnGit();
  await store.close();
  repo.git("config", "core.fileMode", "false");
  const again = await reopen();
  save("notes/a.md", "one\n");
  chmodSync(join(repo.root, "notes/a.md"), 0o755);
  await again.commit([draft("notes/a.md", "one\n", null, { origin: "disk" })]);
  expect(repo.git("ls-tree", "HEAD", "notes/a.md")).toMatch(/^100644 /);
  expect(repo.git("status", "--porcelain")).toBe("");
  await again.close();
});
