/** Edits that can't be committed, beside others that can. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GitStore } from "../../../src/store/git-store.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { at, type Harness, harness } from "./reconcile-harness.ts";

let on: StoreOnGit;
let h: Harness & { store: GitStore };
beforeEach(async () => {
  on = await storeOnGit();
  h = harness(() => on.store);
});
afterEach(async () => {
  await h.reconciler.close();
  await on.store.close();
});
const inTip = () => on.repo.git("ls-tree", "-r", "--name-only", "main").split("\n");

test("notes inside a submodule stay out, are named when asked for, and stop no other", async () => {
  await h.agent(at("x"), "x\n");
  const { git } = on.repo;
  git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "main")},notes/sub`);
  git("commit", "-qm", "a submodule");
  for (const name of ["sub/a", "sub/b", "sub/c", "sub/d", "sub/e", "y", "z"]) on.save(at(name), `${name}\n`);
  const commits = await h.reconciler.settle(undefined, undefined, "person");
  expect(commits.length).toBeGreaterThan(0);
  expect(inTip()).toEqual(["notes/sub", at("x"), at("y"), at("z")]);
  await expect(h.reconciler.settle(undefined, undefined, "person")).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining(at("sub/a")),
  });
});

test("a note that became a folder, and a folder that became a note, settle like any edit", async () => {
  await h.agent(at("x"), "x\n");
  await h.agent(at("y.md/in"), "in\n");
  rmSync(join(on.repo.root, at("x")));
  mkdirSync(join(on.repo.root, at("x")));
  on.save(`${at("x")}/in.md`, "in\n");
  rmSync(join(on.repo.root, "notes/y.md"), { recursive: true });
  on.save(at("y"), "y\n");
  await h.reconciler.scanAll("asked");
  for (let turn = 0; turn < 3; turn++) await h.pass(12_000);
  await h.reconciler.scanAll("asked");
  expect(h.reconciler.unsettled()).toEqual([]);
  expect(inTip()).toEqual(["notes/x.md/in.md", "notes/y.md"]);
  expect(on.repo.git("status", "--porcelain")).toBe("");
  expect(h.failures).toEqual([]);
});
