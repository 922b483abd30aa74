/** Whoever writes the Git index makes it outlive a power cut: its bytes, and then its name. */
import "../../support/faults/fs-tap.ts";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { at, blobOf, committed, draft } from "../../support/drafts.ts";
import { diskModel } from "../../support/faults/disk-model.ts";
import { tapFileSystem } from "../../support/faults/fs-tap.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

async function withTwoNotes(): Promise<StoreOnGit> {
  const on = await storeOnGit();
  for (const outcome of (await on.store.commit([draft("notes/a.md", "a1\n"), draft("notes/b.md", "b1\n")]))
    .outcomes)
    committed(outcome);
  return on;
}

/** Do something, and compare the Git index with what a disk holds for sure. */
async function expectDurableIndex({ repo }: StoreOnGit, work: () => Promise<unknown>): Promise<void> {
  const index = join(repo.gitdir, "index");
  const before = readFileSync(index);
  const model = diskModel(repo.root);
  const untap = tapFileSystem(repo.root, model);
  await work().finally(untap);
  const gitdir = model.root.synced.get(".git");
  const file = gitdir?.kind === "folder" ? gitdir.synced.get("index") : undefined;
  const durable = file?.kind === "file" ? file.synced?.bytes : undefined;
  const now = readFileSync(index);
  expect([now.equals(before), durable?.equals(now)]).toEqual([false, true]);
}

test("when a commit has settled", async () => {
  const on = await withTwoNotes();
  await expectDurableIndex(on, async () => {
    await on.store.commit([draft("notes/a.md", "a2\n", "a1\n")]);
    await on.store.close();
  });
});

test("when a file was brought forward", async () => {
  const on = await withTwoNotes();
  await on.store.commit([draft("notes/a.md", "a2\n", "a1\n")]);
  on.save("notes/a.md", "a1\n");
  on.store.workTree.accept(at("notes/a.md"), blobOf("a1\n"));
  on.repo.git("add", "notes/a.md");
  // The commit's own clearing up may touch the file in between: then it is left, to be asked for again.
  await expectDurableIndex(on, () =>
    until("the file to be brought forward", () =>
      on.store.workTree.bringForward(at("notes/a.md"), blobOf("a2\n"), blobOf("a1\n")),
    ),
  );
  await on.store.close();
});

test("when an index that a person's Git had read too early was put level", async () => {
  const on = await withTwoNotes();
  const index = join(on.repo.gitdir, "index");
  const old = readFileSync(index);
  await on.store.commit([draft("notes/a.md", "a2\n", "a1\n")]);
  writeFileSync(`${index}.theirs`, old);
  renameSync(`${index}.theirs`, index);
  await expectDurableIndex(on, () => on.store.levelIndex());
  expect(on.repo.git("status", "--porcelain")).toBe("");
  await on.store.close();
});
