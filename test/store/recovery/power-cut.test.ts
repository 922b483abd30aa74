/** A power cut after files were placed and before they were synced: what the disk lost is not what a person did. */
import "../../support/faults/fs-tap.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openGitStore } from "../../../src/store/git-store.ts";
import { committed, draft } from "../../support/drafts.ts";
import { diskModel } from "../../support/faults/disk-model.ts";
import { tapFileSystem, untapped } from "../../support/faults/fs-tap.ts";
import { cutPower } from "../../support/faults/power-cut.ts";
import { temporaryFolder } from "../../support/git-repo.ts";
import { allPlaced, intentsOnDisk } from "../../support/intents-on-disk.ts";
import { type StoreOnGit, storeOnGit, textOf } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

const PATHS = ["notes/new/b.md", "notes/a.md", "notes/c.md"];

const waitForFiles = ({ repo }: StoreOnGit) =>
  until("intents to wait for their files alone", () => untapped(() => allPlaced(repo.gitdir)));

/** A created, an updated and a deleted note, all placed, and one more write. */
async function placed(): Promise<{ on: StoreOnGit; model: ReturnType<typeof diskModel> }> {
  const on = await storeOnGit();
  for (const outcome of (await on.store.commit([draft("notes/a.md", "a1\n"), draft("notes/c.md", "c1\n")]))
    .outcomes)
    committed(outcome);
  await on.store.close();
  await on.reopen();
  const model = diskModel(on.repo.root);
  const untap = tapFileSystem(on.repo.root, model);
  await on.store.commit([
    draft("notes/new/b.md", "b1\n"),
    draft("notes/a.md", "a2\n", "a1\n"),
    draft("notes/c.md", null, "c1\n"),
  ]);
  await waitForFiles(on);
  await on.store.commit([draft("notes/on.md", "on\n")]);
  await waitForFiles(on);
  untap();
  return { on, model };
}

const placedFirst = ({ repo }: StoreOnGit) =>
  intentsOnDisk(repo.gitdir)[0]?.intent.files.map(({ path }) => path);

test("is told from a person's deletion: the files are placed again", async () => {
  const { on, model } = await placed();
  expect(placedFirst(on)).toContain("notes/new/b.md");
  const root = join(temporaryFolder(), "repository");
  cutPower(model, root, "strict", () => 0);
  expect(PATHS.map((path) => textOf(root, path))).toEqual([null, "a1\n", "c1\n"]);
  const store = await openGitStore({
    root,
    gitdir: join(root, ".git"),
    branch: "main",
    roots: ["notes"],
    proofKey: new Uint8Array(32),
  });
  expect(PATHS.map((path) => textOf(root, path))).toEqual(["b1\n", "a2\n", null]);
  await store.close();
  await on.store.close();
});

test("without one, what a person did to placed files before a start stays", async () => {
  const { on } = await placed();
  expect(placedFirst(on)).toContain("notes/new/b.md");
  rmSync(join(on.repo.root, "notes/new/b.md"));
  on.save("notes/a.md", "a1\n");
  on.save("notes/c.md", "c1\n");
  const store = await on.reopen();
  expect(PATHS.map(on.text)).toEqual([null, "a1\n", "c1\n"]);
  await store.close();
});
