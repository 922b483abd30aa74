import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mergeSmallPacks } from "../../../src/store/objects/upkeep.ts";
import { at, committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

const packs = ({ repo }: StoreOnGit) =>
  readdirSync(join(repo.gitdir, "objects/pack")).filter((f) => f.endsWith(".pack")).length;

/** `count` commits, each a pack of its own, with folders that make deltas and the same tree more than once. */
async function grow(on: StoreOnGit, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const path = `notes/${n % 3}/n${n % 7}.md`;
    const tip = await on.store.tip();
    const blob = tip === null ? null : await on.store.blobAt(tip, at(path));
    const before = blob === null ? null : Buffer.from(await on.store.readBlob(blob)).toString();
    const text = n % 5 === 4 && before !== null ? null : `text ${n % 4}\n`;
    const chain = [
      draft(path, text, before),
      draft(`notes/again ${n}.md`, "once\n"),
      draft(`notes/again ${n}.md`, null, "once\n"),
    ];
    for (const outcome of (await on.store.commit(chain)).outcomes) committed(outcome);
  }
}

test("small packs become one that native Git verifies, and nothing is lost", async () => {
  const on = await storeOnGit();
  await grow(on, 40);
  const before = on.repo.git("rev-list", "--objects", "HEAD");
  expect(packs(on)).toBe(40);
  expect(await mergeSmallPacks(on.repo.gitdir, 30)).toBe(19);
  expect(packs(on)).toBe(21);
  expect(on.repo.git("rev-list", "--objects", "HEAD")).toBe(before);
  expect(on.repo.tryGit("fsck", "--strict", "--no-dangling", "--full")).toMatchObject({ status: 0 });
  for (const name of readdirSync(join(on.repo.gitdir, "objects/pack")).filter((f) => f.endsWith(".idx"))) {
    expect(on.repo.tryGit("verify-pack", join(".git/objects/pack", name))).toMatchObject({
      status: 0,
      stderr: "",
    });
  }
  const tip = await on.store.tip();
  if (tip === null) throw new Error("no tip");
  for await (const { events } of on.store.history(null, tip)) {
    for (const event of events) if (event.kind === "written") await on.store.readBlob(event.after);
  }
  await grow(on, 1);
  expect(await mergeSmallPacks(on.repo.gitdir, 30)).toBe(0);
  await on.store.close();
});

test("kept packs and a running gc are left alone", async () => {
  const on = await storeOnGit();
  await grow(on, 25);
  for (const name of readdirSync(join(on.repo.gitdir, "objects/pack")).filter((f) => f.endsWith(".pack"))) {
    writeFileSync(join(on.repo.gitdir, "objects/pack", name.replace(/pack$/, "keep")), "mine\n");
  }
  expect(await mergeSmallPacks(on.repo.gitdir, 5)).toBe(0);
  writeFileSync(join(on.repo.gitdir, "gc.pid"), "1 somewhere");
  expect(await mergeSmallPacks(on.repo.gitdir, 0)).toBe(0);
  expect(packs(on)).toBe(25);
  await on.store.close();
});

test("after some quiet few are left", async () => {
  const clock = fakeClock();
  const on = await storeOnGit({ clock });
  await grow(on, 45);
  expect(packs(on)).toBe(45);
  clock.advance(10_000);
  await until("packs to be merged", () => packs(on) <= 40);
  expect(on.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
  await on.store.close();
});
