import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitRepack } from "../../../src/store/objects/git-repack.ts";
import { grow, packFiles, reachable } from "../../support/packs.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";

const names = ({ repo }: StoreOnGit) => packFiles(repo, ".pack").map((file) => file.slice(5, 45));
const work = ({ repo }: StoreOnGit) =>
  readdirSync(join(repo.gitdir, "notesd")).filter((f) => f.startsWith("repack-"));

async function grown(count: number): Promise<StoreOnGit> {
  const on = await storeOnGit();
  await grow(on, count);
  await on.store.close();
  return on;
}

test("one pack of the chosen ones is written where nobody looks, and the repository is as it was", async () => {
  const on = await grown(12);
  const [before, files] = [reachable(on.repo), packFiles(on.repo)];
  const made = await gitRepack().run(on.repo.gitdir, names(on));
  if (made.kind !== "packed") throw new Error(made.kind);
  expect(
    readdirSync(made.folder)
      .map((file) => file.replace(/^.*\./, ""))
      .sort(),
  ).toEqual(["idx", "pack"]);
  expect(packFiles(on.repo)).toEqual(files);
  expect(reachable(on.repo)).toBe(before);
  made.remove();
  expect(work(on)).toEqual([]);
});

test("a pack that is gone is a failure that says why, and leaves nothing", async () => {
  const on = await grown(2);
  const made = await gitRepack().run(on.repo.gitdir, [...names(on), "12".repeat(20)]);
  expect(made).toMatchObject({ kind: "failed", why: expect.stringContaining("121212") });
  expect(work(on)).toEqual([]);
});

test("stopped, it is gone with all it wrote, and is not begun again", async () => {
  const on = await grown(30);
  const git = gitRepack();
  const made = git.run(on.repo.gitdir, names(on));
  await git.stop();
  expect(await made).toMatchObject({ kind: "failed" });
  expect(work(on)).toEqual([]);
  expect(await git.run(on.repo.gitdir, names(on))).toMatchObject({ kind: "failed", why: "stopped" });
});

test("a path with every letter that separates or quotes paths is no trouble", async () => {
  const on = await storeOnGit();
  await grow(on, 3);
  await on.store.close();
  const odd = join(on.repo.root, 'a:b "c" d\\e');
  mkdirSync(odd);
  on.repo.git("clone", "-q", "--no-local", "--bare", ".", join(odd, "x.git"));
  mkdirSync(join(odd, "x.git/notesd"));
  const packs = readdirSync(join(odd, "x.git/objects/pack")).filter((f) => f.endsWith(".pack"));
  const made = await gitRepack().run(
    join(odd, "x.git"),
    packs.map((file) => file.slice(5, 45)),
  );
  expect(made.kind).toBe("packed");
});
