import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childFolders, folderIdentity } from "../../src/doors/watching.ts";
import { temporaryFolder } from "../support/git-repo.ts";

test("a folder that is gone, or became a file, has no folders and no identity", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "file"), "");
  expect([await childFolders(root), await childFolders(join(root, "a"))]).toEqual([["a"], ["b"]]);
  for (const name of ["none", "file", "file/below"]) {
    expect(await childFolders(join(root, name))).toEqual([]);
    expect(await folderIdentity(join(root, name))).toBeNull();
  }
});

test.skipIf(process.getuid?.() === 0)("a folder that may not be read has no folders to tell of", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "closed/below"), { recursive: true });
  chmodSync(join(root, "closed"), 0);
  expect(await childFolders(join(root, "closed"))).toEqual([]);
  expect(await folderIdentity(join(root, "closed/below"))).toBeNull();
  chmodSync(join(root, "closed"), 0o700);
});
