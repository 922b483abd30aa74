import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isGcRunning, listPacks } from "../../../src/store/objects/pack-list.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { grow, packFiles } from "../../support/packs.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

test("only packs that nothing but an idx belongs to are plain; a reverse index says nothing new", async () => {
  const on = await storeOnGit();
  await grow(on, 6);
  await on.store.close();
  const { gitdir } = on.repo;
  const names = listPacks(gitdir).plain.map(({ name }) => name);
  expect(names).toHaveLength(6);
  const [kept = "", mapped = "", cruft = "", reversed = ""] = names;
  for (const [name, ending] of [
    [kept, "keep"],
    [mapped, "bitmap"],
    [cruft, "mtimes"],
    [reversed, "rev"],
  ] as const)
    writeFileSync(packFile(gitdir, name, ending), "");
  const { plain, all } = listPacks(gitdir);
  expect(all).toBe(6);
  expect(plain.map(({ name }) => name).sort()).toEqual(names.slice(3).sort());
  expect(plain.every(({ fresh }) => fresh)).toBe(true);
  writeFileSync(packFile(gitdir, kept, "promisor"), "");
  expect(listPacks(gitdir)).toEqual({ plain: [], all: 6 });
});

test("packs in a multi-pack-index of Git are its own, newer ones are not, and what Git made is not fresh", async () => {
  const on = await storeOnGit();
  await grow(on, 3);
  on.repo.git("multi-pack-index", "write");
  expect(listPacks(on.repo.gitdir)).toEqual({ plain: [], all: 3 });
  await grow(on, 2, 3);
  await on.store.close();
  expect(listPacks(on.repo.gitdir).plain).toHaveLength(2);
  writeFileSync(join(on.repo.gitdir, "objects/pack/multi-pack-index"), "something new");
  expect(listPacks(on.repo.gitdir).plain).toEqual([]);
  rmSync(join(on.repo.gitdir, "objects/pack/multi-pack-index"));
  on.repo.git("repack", "-adq");
  expect(packFiles(on.repo, ".pack")).toHaveLength(1);
  expect(listPacks(on.repo.gitdir).plain).toMatchObject([{ fresh: false }]);
});

test("a gc counts while its process lives", async () => {
  const on = await storeOnGit();
  await on.store.close();
  const file = join(on.repo.gitdir, "gc.pid");
  const seen = [null, `${process.pid} host`, "99999999 host", "rubbish"].map((text) => {
    if (text !== null) writeFileSync(file, text);
    return isGcRunning(on.repo.gitdir);
  });
  expect(seen).toEqual([false, true, false, false]);
});
