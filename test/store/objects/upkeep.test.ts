import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { openUpkeep } from "../../../src/store/objects/upkeep.ts";
import { openRefSync } from "../../../src/store/refs/ref-sync.ts";
import { blobOf, committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { gitRepo, temporaryFolder } from "../../support/git-repo.ts";
import { expectSound, grow, packFiles, reachable } from "../../support/packs.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

const packs = ({ repo }: StoreOnGit) => packFiles(repo, ".pack").length;
const path = process.env["PATH"];
afterEach(() => {
  process.env["PATH"] = path;
});

const quietParts = (gitdir: string) => ({
  gitdir,
  troubled: (what: string) => expect.unreachable(what),
  foreign: { saw() {}, look() {}, settle() {}, isActive: () => false },
  refSync: openRefSync(gitdir, "refs/heads/main"),
  replaced() {},
});

/** A text that nothing compresses much, so that a repack is worth it. */
const longText = (n: number) =>
  Array.from({ length: 9_000 }, (_, i) => ((i * 7_919 + n) * 2_654_435_761) % 4_294_967_296).join("\n");

test("after some quiet few packs are left, and what history reads is the same", async () => {
  const clock = fakeClock();
  const on = await storeOnGit({ clock });
  await grow(on, 45);
  const before = reachable(on.repo);
  expect(packs(on)).toBe(45);
  clock.advance(10_000);
  await until("packs to be merged", () => packs(on) === 1);
  expect(reachable(on.repo)).toBe(before);
  const tip = await on.store.tip();
  if (tip === null) throw new Error("no tip");
  for await (const { events } of on.store.history(null, tip)) {
    for (const event of events) if (event.kind === "written") await on.store.readBlob(event.after);
  }
  expectSound(on.repo);
  await on.store.close();
});

test("while writes go on without a pause there are never many", async () => {
  const on = await storeOnGit({ clock: fakeClock() });
  let most = 0;
  for (let n = 0; n < 260; n++) {
    committed(
      (await on.store.commit([draft("notes/a.md", `${n + 1}`, n === 0 ? null : `${n}`)])).outcomes[0],
    );
    most = Math.max(most, packs(on));
  }
  expect(most).toBeGreaterThan(100);
  expect(most).toBeLessThanOrEqual(250);
  // Packs are replaced until then, also while each of them is looked at.
  await on.store.close();
  expectSound(on.repo);
});

/** A pack of one blob of so many bytes that nothing compresses. */
function writeOnePack(gitdir: string, size: number): void {
  const bytes = randomBytes(size);
  const builder = packBuilder();
  builder.add("blob", hashObject("blob", bytes), bytes);
  const { name, pack, idx } = builder.finish();
  for (const [ending, content] of Object.entries({ pack, idx }))
    writeFileSync(packFile(gitdir, name, ending), content);
}

test("when writing ends in the middle of a merge, what that leaves is put together after it", async () => {
  const repo = gitRepo();
  mkdirSync(join(repo.gitdir, "notesd"), { recursive: true });
  // More than quiet leaves of that size, and fewer than writers wait for.
  for (let n = 0; n < 5; n++) writeOnePack(repo.gitdir, 600 << 10);
  for (let n = 0; n < 2; n++) writeOnePack(repo.gitdir, 1 << 10);
  const clock = fakeClock();
  const upkeep = openUpkeep({ ...quietParts(repo.gitdir), clock });
  for (let n = 0; n < 300; n++) upkeep.wrote();
  clock.advance(10_000);
  await until("the small ones to be merged", () => packFiles(repo, ".pack").length <= 6);
  await until("all to be merged", () => {
    clock.advance(1);
    return packFiles(repo, ".pack").length <= 2;
  });
  await upkeep.stop();
});

test("a repository with thousands of packs is put in order by the next start", async () => {
  const on = await storeOnGit();
  await grow(on, 4);
  await on.store.close();
  // Of one blob each, as a strange tool might leave them.
  for (let n = 0; n < 600; n++) {
    const bytes = Buffer.from(`${n}`);
    const builder = packBuilder();
    builder.add("blob", hashObject("blob", bytes), bytes);
    const { name, pack, idx } = builder.finish();
    for (const [ending, content] of Object.entries({ pack, idx }))
      writeFileSync(packFile(on.repo.gitdir, name, ending), content);
  }
  expect(packs(on)).toBeGreaterThan(600);
  const store = await on.reopen({ clock: fakeClock() });
  committed((await store.commit([draft("notes/at once.md", "x")])).outcomes[0]);
  await until("packs to be merged", () => packs(on) < 10);
  expect(on.repo.git("cat-file", "-p", blobOf("599"))).toBe("599");
  await store.close();
});

test("when it is calm native Git makes deltas, and what it leaves lying when it is stopped goes", async () => {
  const clock = fakeClock();
  const on = await storeOnGit({ clock });
  for (let n = 0; n < 40; n++) {
    const before = n === 0 ? null : `${longText(7)}\n${n - 1}`;
    await on.store.commit([draft("notes/long.md", `${longText(7)}\n${n}`, before)]);
  }
  const bytes = () => Number(/size-pack: (\d+)/.exec(on.repo.git("count-objects", "-v"))?.[1]);
  const asWritten = bytes();
  clock.advance(10_000);
  await until("packs to be merged", () => packs(on) === 1);
  const [merged] = packFiles(on.repo, ".pack");
  await until("Git to have repacked", () => {
    clock.advance(15_000);
    return packFiles(on.repo, ".pack")[0] !== merged && packs(on) === 1;
  });
  expect(bytes()).toBeLessThan(asWritten / 5);
  expectSound(on.repo);
  await on.store.close();
  expect(readdirSync(join(on.repo.gitdir, "notesd")).filter((name) => name.startsWith("repack-"))).toEqual(
    [],
  );
});

test("with no Git on PATH, or one that can't, packs are put together all the same", async () => {
  for (const script of [null, "#!/bin/sh\nexit 129\n"]) {
    const clock = fakeClock();
    const on = await storeOnGit({ clock });
    const bin = temporaryFolder();
    if (script !== null) {
      writeFileSync(join(bin, "git"), script);
      chmodSync(join(bin, "git"), 0o755);
    }
    process.env["PATH"] = bin;
    for (let n = 0; n < 30; n++) await on.store.commit([draft(`notes/${n}.md`, longText(n))]);
    clock.advance(10_000);
    await until("packs to be merged", () => packs(on) === 1);
    clock.advance(60_000);
    process.env["PATH"] = path;
    expectSound(on.repo);
    await on.store.close();
  }
});

test("a Git that fails to repack is told with its own words", async () => {
  const clock = fakeClock();
  const told: unknown[] = [];
  const on = await storeOnGit({ clock, warn: (...what) => told.push(what) });
  for (let n = 0; n < 30; n++) await on.store.commit([draft(`notes/${n}.md`, longText(n))]);
  clock.advance(10_000);
  await until("packs to be merged", () => packs(on) === 1);
  const bin = temporaryFolder();
  writeFileSync(join(bin, "git"), "#!/bin/sh\necho the disk is odd >&2\nexit 1\n");
  chmodSync(join(bin, "git"), 0o755);
  process.env["PATH"] = bin;
  await until("it to be told", () => {
    clock.advance(15_000);
    return told.length > 0;
  });
  process.env["PATH"] = path;
  expect(told[0]).toEqual([
    "Git could not repack",
    expect.objectContaining({ why: expect.stringContaining("the disk is odd") }),
  ]);
  await on.store.close();
});

test("a person's gc at work is left alone, and one that died is none", async () => {
  const clock = fakeClock();
  const on = await storeOnGit({ clock });
  await grow(on, 10);
  writeFileSync(join(on.repo.gitdir, "gc.pid"), `${process.pid} somewhere`);
  clock.advance(10_000);
  expect(packs(on)).toBe(10);
  writeFileSync(join(on.repo.gitdir, "gc.pid"), "99999999 somewhere");
  await grow(on, 1, 10);
  clock.advance(10_000);
  await until("packs to be merged", () => packs(on) === 1);
  await on.store.close();
});

test("a gc.pid that can't be read ends neither a commit nor a timer", () => {
  const repo = gitRepo();
  const clock = fakeClock();
  mkdirSync(join(repo.gitdir, "notesd"), { recursive: true });
  const upkeep = openUpkeep({ ...quietParts(repo.gitdir), clock });
  mkdirSync(join(repo.gitdir, "gc.pid"));
  for (let n = 0; n < 260; n++) upkeep.wrote();
  clock.advance(10_000);
  return upkeep.stop();
});

test("a damaged pack is told, stays as it is, and the others are put together", async () => {
  const clock = fakeClock();
  const told: string[] = [];
  const on = await storeOnGit({ clock, warn: (what) => told.push(what) });
  await grow(on, 9);
  const [file = ""] = packFiles(on.repo, ".pack");
  const damaged = join(on.repo.gitdir, "objects/pack", file);
  chmodSync(damaged, 0o644);
  const bytes = readFileSync(damaged);
  bytes.fill(0x55, 60, 100);
  writeFileSync(damaged, bytes);
  clock.advance(10_000);
  await until("the other packs to be merged", () => packs(on) === 2);
  expect(packFiles(on.repo, ".pack")).toContain(file);
  await until("it to be told", () => told.includes("a damaged pack was left as it is"));
  await on.store.close();
});

test("old loose objects become a pack when there are a thousand, and young ones stay", async () => {
  const clock = fakeClock();
  const on = await storeOnGit({ clock });
  await grow(on, 2);
  mkdirSync(join(on.repo.root, "many"));
  for (let n = 0; n < 1_000; n++) writeFileSync(join(on.repo.root, `many/${n}`), `${n}\n`);
  on.repo.git("add", "many");
  const loose = () => Number(/^count: (\d+)/m.exec(on.repo.git("count-objects", "-v"))?.[1]);
  expect(loose()).toBe(1_000);
  const objects = join(on.repo.gitdir, "objects");
  for (const name of readdirSync(objects, { recursive: true, encoding: "utf8" }))
    if (/^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name)) utimesSync(join(objects, name), 1_000, 1_000);
  on.repo.gitBytes(["hash-object", "-w", "--stdin"], "work in progress\n");
  const young = blobOf("work in progress\n");
  utimesSync(join(objects, young.slice(0, 2), young.slice(2)), clock.now() / 1_000, clock.now() / 1_000);
  clock.advance(10_000);
  await until("loose objects to be packed", () => loose() === 1);
  expect(on.repo.git("show", ":many/999")).toBe("999");
  expectSound(on.repo);
  await on.store.close();
});

test("stopped in the middle it waits for nobody and leaves nothing half done", async () => {
  const on = await storeOnGit({ clock: fakeClock() });
  await grow(on, 5);
  const clock = fakeClock();
  const upkeep = openUpkeep({ ...quietParts(on.repo.gitdir), clock });
  clock.advance(10_000);
  await upkeep.stop();
  await upkeep.room();
  upkeep.wrote();
  expect(clock.waiting).toBe(0);
  expect(packFiles(on.repo).filter((file) => !/^pack-\w+\.(pack|idx)$/.test(file))).toEqual([]);
  expectSound(on.repo);
  await on.store.close();
});
