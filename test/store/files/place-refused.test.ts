/** Working files when the disk refuses in the middle of placing one. */
import "../../support/faults/fs-tap.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { at, blobOf, committed, draft } from "../../support/drafts.ts";
import type { FsCall } from "../../support/faults/fs-calls.ts";
import { diskError, type Fault, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const linking = ({ op, path }: FsCall) => op === "link" && path.includes("/prepared/");

/** Updates a note while the disk refuses the first of some calls. */
async function updatedWhile(when: (call: FsCall) => boolean, done: Fault["done"]) {
  const on = await storeOnGit();
  await on.store.commit([draft("notes/a.md", "a1\n")]);
  let left = 1;
  const untap = tapFileSystem(on.repo.root, {
    before: (call) => (when(call) && left-- > 0 ? { error: diskError("EIO", call), done } : null),
  });
  const { outcomes } = await on.store.commit([draft("notes/a.md", "a2\n", "a1\n")]);
  untap();
  return { on, outcome: committed(outcomes[0]) };
}

test("a file that could not be linked in is pending, and the next start brings it", async () => {
  const { on, outcome } = await updatedWhile(linking, "nothing");
  expect([outcome.pending, on.text("notes/a.md")]).toEqual([["notes/a.md"], "a1\n"]);
  await on.store.close();
  const store = await on.reopen();
  expect([on.text("notes/a.md"), on.repo.git("status", "--porcelain")]).toEqual(["a2\n", ""]);
  await store.close();
});

test("a file that was linked in though the disk said no is placed, and nothing is kept beside it", async () => {
  const { on, outcome } = await updatedWhile(linking, "all");
  expect([outcome.pending, on.text("notes/a.md")]).toEqual([[], "a2\n"]);
  expect(on.repo.git("status", "--porcelain")).toBe("");
  await on.store.close();
});

test("a file taken aside comes back when what follows is refused: it doesn't look deleted", async () => {
  const on = await storeOnGit();
  await on.store.commit([draft("notes/a.md", "a1\n"), draft("notes/a.md", "a2\n", "a1\n")]);
  on.save("notes/a.md", "a1\n");
  let left = 1;
  const untap = tapFileSystem(on.repo.root, {
    before: (call) =>
      call.op === "lstat" && call.path.includes("/aside/") && left-- > 0
        ? { error: diskError("EIO", call), done: "nothing" }
        : null,
  });
  const bringing = on.store.workTree.bringForward(at("notes/a.md"), blobOf("a2\n"), blobOf("a1\n"));
  await expect(bringing).rejects.toMatchObject({ code: "STORAGE" });
  untap();
  expect(on.text("notes/a.md")).toBe("a1\n");
  await on.store.close();
});

test("a pack whose .keep can't be removed makes no write fail that stands", async () => {
  const on = await storeOnGit();
  const untap = tapFileSystem(on.repo.root, {
    before: (call) =>
      call.op === "unlink" && call.path.endsWith(".keep")
        ? { error: diskError("EIO", call), done: "nothing" }
        : null,
  });
  const { outcomes } = await on.store.commit([draft("notes/a.md", "a1\n")]);
  untap();
  committed(outcomes[0]);
  await on.store.close();
});

test("an intent that was written though the disk said no is told as STORAGE, and none is left", async () => {
  const on = await storeOnGit();
  let left = 1;
  const untap = tapFileSystem(on.repo.root, {
    before: (call) =>
      call.op === "write" && call.path.includes("/intents/") && left-- > 0
        ? { error: diskError("EIO", call), done: "all" }
        : null,
  });
  await expect(on.store.commit([draft("notes/a.md", "a1\n")])).rejects.toMatchObject({ code: "STORAGE" });
  untap();
  expect(readdirSync(join(on.repo.gitdir, "notesd/intents"))).toEqual([]);
  committed((await on.store.commit([draft("notes/a.md", "a1\n")])).outcomes[0]);
  await on.store.close();
});
