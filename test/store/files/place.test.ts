import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { committed, draft } from "../../support/drafts.ts";
import { storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

test("a person's file where a note needs a folder stays, and stops neither other writes nor a start", async () => {
  const on = await storeOnGit();
  on.save("notes/deep", "a person's own\n");
  committed((await on.store.commit([draft("notes/deep/a.md", "a\n")])).outcomes[0]);
  committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
  expect([on.text("notes/deep"), on.text("notes/b.md")]).toEqual(["a person's own\n", "b\n"]);
  await on.store.close();
  const store = await on.reopen();
  committed((await store.commit([draft("notes/c.md", "c\n")])).outcomes[0]);
  expect(store.recovery.unplaced).toMatchObject([{ path: "notes/deep/a.md" }]);
  rmSync(join(on.repo.root, "notes/deep"));
  await until("the file in its place", () => on.text("notes/deep/a.md") !== null);
  expect([on.text("notes/deep/a.md"), on.repo.git("status", "--porcelain")]).toEqual(["a\n", ""]);
  await store.close();
});

test("a folder where a note's file was is a note removed, and what lies in it can be committed with that", async () => {
  const on = await storeOnGit();
  committed((await on.store.commit([draft("notes/a.md", "a\n")])).outcomes[0]);
  rmSync(join(on.repo.root, "notes/a.md"));
  mkdirSync(join(on.repo.root, "notes/a.md"));
  on.save("notes/a.md/in.md", "in\n");
  const inside = draft("notes/a.md/in.md", "in\n", null, { origin: "disk" });
  const gone = draft("notes/a.md", null, "a\n", { origin: "disk" });
  const both = { ...inside, files: [...inside.files, ...gone.files] };
  committed((await on.store.commit([both])).outcomes[0]);
  expect(on.repo.git("ls-tree", "-r", "--name-only", "main")).toBe("notes/a.md/in.md");
  expect(on.repo.git("status", "--porcelain")).toBe("");
  await on.store.close();
});

test("a path that the branch or the disk has no place for is named with why, and others are committed", async () => {
  const on = await storeOnGit();
  committed((await on.store.commit([draft("notes/a.md", "a\n")])).outcomes[0]);
  symlinkSync("elsewhere", join(on.repo.root, "notes/l.md"));
  const { outcomes } = await on.store.commit([
    draft("notes/a.md/in.md", "in\n"),
    draft("notes/l.md", "l\n"),
    draft("notes/b.md", "b\n"),
  ]);
  expect(outcomes.slice(0, 2)).toMatchObject([
    { kind: "blocked", path: "notes/a.md/in.md", why: expect.stringContaining("in place of a folder") },
    { kind: "blocked", path: "notes/l.md", why: "is a symbolic link" },
  ]);
  committed(outcomes[2]);
  await on.store.close();
});
