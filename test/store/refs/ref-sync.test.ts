import "../../support/faults/fs-tap.ts";
import { mkdirSync, renameSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openRefSync } from "../../../src/store/refs/ref-sync.ts";
import { committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { diskError, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { gitRepo } from "../../support/git-repo.ts";
import { allPlaced, intentsOnDisk } from "../../support/intents-on-disk.ts";
import { storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

let untap = () => {};
afterEach(() => untap());

/** What is synced and removed below a folder, in order; `refuse` says which syncs the disk refuses. */
function tap(folder: string, refuse: (path: string) => boolean = () => false): string[] {
  const seen: string[] = [];
  untap = tapFileSystem(folder, {
    before(call) {
      const path = relative(folder, call.path);
      if (call.op !== "fsync" && call.op !== "unlink") return null;
      seen.push(`${call.op} ${path}`);
      if (call.op !== "fsync" || !refuse(path)) return null;
      return { error: diskError("EIO", call), done: "nothing" };
    },
  });
  return seen;
}

test("the folders above a ref are synced when they may be new, and else its own alone", async () => {
  const { gitdir } = gitRepo();
  const folder = join(gitdir, "refs/heads/team");
  mkdirSync(folder);
  const seen = tap(gitdir);
  const ref = openRefSync(gitdir, "refs/heads/team/notes");
  await ref.sync();
  expect(seen.splice(0)).toEqual(["fsync refs/heads/team", "fsync refs/heads", "fsync refs"]);
  await ref.sync();
  expect(seen.splice(0)).toEqual(["fsync refs/heads/team"]);
  renameSync(folder, `${folder}-before`);
  await ref.sync();
  expect(seen.splice(0)).toEqual(["fsync refs/heads"]);
  mkdirSync(folder);
  await ref.sync();
  expect(seen.splice(0)).toEqual(["fsync refs/heads/team", "fsync refs/heads"]);
});

test("a sync that failed is owed until one succeeds", async () => {
  const { gitdir } = gitRepo();
  let refusals = 2;
  const seen = tap(gitdir, () => refusals-- > 0);
  const ref = openRefSync(gitdir, "refs/heads/main");
  await expect(ref.sync()).rejects.toThrow("EIO");
  await expect(ref.owed()).rejects.toThrow("EIO");
  await ref.owed();
  expect(seen).toHaveLength(4);
  await ref.owed();
  expect(seen).toHaveLength(4);
});

test.each(["full", "relaxed"] as const)(
  "a branch that could not be synced is told (%s), and its intent is open until it was",
  async (durability) => {
    const clock = fakeClock();
    const told: string[] = [];
    const on = await storeOnGit({ clock, durability, warn: (what) => told.push(what) });
    let refuses = true;
    tap(on.repo.gitdir, (path) => refuses && path === "refs/heads");
    committed((await on.store.commit([draft("notes/a.md", "one\n")])).outcomes[0]);
    await until("it to be told", () => told.length > 0);
    expect(told[0]).toMatch(/^a commit stands/);
    await until("the settling to be told", () => {
      clock.advance(20);
      return told.length > 1;
    });
    expect(intentsOnDisk(on.repo.gitdir)).toMatchObject([{ placed: false }]);
    refuses = false;
    await until("the intent to be settled", () => {
      clock.advance(1_000);
      return allPlaced(on.repo.gitdir);
    });
    await on.store.close();
  },
);

test("a start syncs the branch before it drops what a power cut would need", async () => {
  // Its clock stands still, so that the intent is not marked as placed before.
  const on = await storeOnGit({ clock: fakeClock() });
  committed((await on.store.commit([draft("notes/a.md", "one\n")])).outcomes[0]);
  const seen = tap(on.repo.gitdir);
  // As after a kill: the first one was never closed.
  const again = await on.reopen();
  const synced = seen.indexOf("fsync refs/heads");
  const dropped = seen.findIndex((call) => call.startsWith("unlink notesd/intents"));
  expect(dropped).toBeGreaterThan(-1);
  expect(synced).toBeGreaterThan(-1);
  expect(synced).toBeLessThan(dropped);
  untap();
  await again.close();
});
