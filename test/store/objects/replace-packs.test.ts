import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mergePacks } from "../../../src/store/objects/merge-packs.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { holdsAll, type ReplaceStep, replacePacks } from "../../../src/store/objects/replace-packs.ts";
import { childScript } from "../../support/child-script.ts";
import { expectSound, grow, packFiles, reachable } from "../../support/packs.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const STEPS: readonly ReplaceStep[] = [
  "written",
  "kept",
  "packed",
  "indexed",
  "durable",
  "noted",
  "removed",
  "forgotten",
];
const names = (files: readonly string[]) => files.map((file) => file.replace(/^pack-|\.\w+$/g, ""));

test("killed at any step every object is there at once, and the next start clears away the rest", async () => {
  const script = await childScript("upkeep-child");
  const on = await storeOnGit();
  for (const [round, step] of STEPS.entries()) {
    await grow(on, 6, round * 6);
    await on.store.close();
    const before = reachable(on.repo);
    expect(spawnSync(process.execPath, [script, on.repo.gitdir, step]).signal).toBe("SIGKILL");
    expect(reachable(on.repo)).toBe(before);
    expect(on.repo.tryGit("fsck", "--strict", "--no-dangling", "--full")).toMatchObject({ status: 0 });
    await on.reopen();
    expect(reachable(on.repo)).toBe(before);
    const left = packFiles(on.repo);
    expect(left.filter((file) => !/^pack-\w+\.(pack|idx)$/.test(file))).toEqual([]);
    expect(packFiles(on.repo, ".pack")).toHaveLength(left.length / 2);
  }
  expectSound(on.repo);
  await on.store.close();
});

test("a pack that somebody keeps meanwhile stays", async () => {
  const on = await storeOnGit();
  await grow(on, 4);
  const old = names(packFiles(on.repo, ".pack"));
  const { name } = mergePacks(on.repo.gitdir, old);
  writeFileSync(packFile(on.repo.gitdir, old[1] ?? "", "keep"), "mine\n");
  expect(replacePacks(on.repo.gitdir, name, old)).toBe(3);
  expect(names(packFiles(on.repo, ".pack"))).toEqual([name, old[1]].sort());
  expect(packFiles(on.repo, ".keep")).toEqual([`pack-${old[1]}.keep`]);
  await on.store.close();
});

test("a pack that can't be put in place leaves the old ones and nothing else", async () => {
  const on = await storeOnGit();
  await grow(on, 3);
  const old = names(packFiles(on.repo, ".pack"));
  const { name } = mergePacks(on.repo.gitdir, old);
  const inTheWay = join(on.repo.gitdir, "objects/pack", `pack-${name}.idx`, "x");
  on.save(inTheWay.slice(on.repo.root.length), "");
  expect(() => replacePacks(on.repo.gitdir, name, old)).toThrow();
  on.save(inTheWay.slice(on.repo.root.length), null);
  expect(names(packFiles(on.repo, ".pack"))).toEqual(expect.arrayContaining(old));
  await on.store.close();
});

test("whether one pack holds all objects of others is found by their idx files", async () => {
  const on = await storeOnGit();
  await grow(on, 5);
  const old = names(packFiles(on.repo, ".pack"));
  const some = mergePacks(on.repo.gitdir, old.slice(0, 4)).name;
  expect(holdsAll(on.repo.gitdir, some, old.slice(0, 4))).toBe(true);
  expect(holdsAll(on.repo.gitdir, some, old)).toBe(false);
  expect(holdsAll(on.repo.gitdir, some, ["12".repeat(20)])).toBe(true);
  await on.store.close();
});
