import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { over } from "../../../src/store/git-index/git-index.ts";
import { emptyIndex, parseIndex } from "../../../src/store/git-index/index-bytes.ts";
import type { IndexImage } from "../../../src/store/git-index/index-image.ts";
import { openSharedIndexes, removeSharedIndexes } from "../../../src/store/git-index/shared-index.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { gitRepo } from "../../support/git-repo.ts";

const PAUSE_MS = 15_000;
const TEN_MINUTES_MS = 600_000;

const { version, starts } = parseIndex(emptyIndex());
const none: IndexImage = {
  version,
  run: { bytes: emptyIndex(), starts, version },
  shared: null,
  changes: [],
  tree: null,
  resolveUndo: null,
};
/** The image with new files of these names. */
const adding = (image: IndexImage, ...names: string[]) =>
  over(image).edit(names.map((name) => ({ path: at(name), expected: null, blob: blobOf(name), stat: null })))
    .index.image;

/** @returns what keeps shared indexes from one entry on, and the errors that it told of */
function start(gitdir: string, clock = fakeClock(Date.now())) {
  const troubles: unknown[] = [];
  const troubled = (error: unknown) => troubles.push(error);
  const indexes = openSharedIndexes({ gitdir, clock, fewestEntries: 1, troubled });
  /** Follow, and wait for what that began. */
  async function follow(image: IndexImage): Promise<IndexImage> {
    indexes.follow(image);
    await indexes.settled();
    return indexes.onNewest(image);
  }
  return { clock, troubles, follow };
}

/** As `git update-index --split-index` leaves one: its own file, renamed over any of that name. */
function writtenByGit(file: string): number {
  copyFileSync(file, `${file}.theirs`);
  renameSync(`${file}.theirs`, file);
  return statSync(file).ino;
}

test("one that a person's Git has written over ours is never removed: only our own link goes", async () => {
  const { gitdir } = gitRepo();
  const { clock, follow, troubles } = start(gitdir);
  const first = await follow(adding(none, "a", "b"));
  const file = join(gitdir, `sharedindex.${first.shared}`);
  const theirs = writtenByGit(file);
  let image = first;
  for (const name of ["c", "d"]) {
    clock.advance(TEN_MINUTES_MS);
    image = await follow(adding(image, name));
  }
  expect(readdirSync(join(gitdir, "notesd/shared"))).not.toContain(first.shared);
  expect(statSync(file).ino).toBe(theirs);
  removeSharedIndexes(gitdir);
  expect(statSync(file).ino).toBe(theirs);
  expect(existsSync(join(gitdir, `sharedindex.${image.shared}`))).toBe(false);
  expect(troubles).toEqual([]);
});

test("the same entries once more don't take it over from them", async () => {
  const { gitdir } = gitRepo();
  const image = adding(none, "a", "b");
  const { shared } = await start(gitdir).follow(image);
  const file = join(gitdir, `sharedindex.${shared}`);
  const theirs = writtenByGit(file);
  expect((await start(gitdir).follow(image)).shared).toBe(shared);
  expect(readdirSync(join(gitdir, "notesd/shared"))).toEqual([]);
  expect(statSync(file).ino).toBe(theirs);
});

test("above a fifth a new one is tried at once, and after a failure only when the pause is over", async () => {
  const { gitdir } = gitRepo();
  const { clock, follow, troubles } = start(gitdir);
  const first = await follow(adding(none, "a", "b"));
  const folder = join(gitdir, "notesd/shared");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "a file where the folder should be");
  const grown = adding(first, "c");
  for (let n = 0; n < 3; n++) expect((await follow(grown)).shared).toBe(first.shared);
  expect(troubles).toHaveLength(1);
  clock.advance(PAUSE_MS - 1);
  await follow(grown);
  expect(troubles).toHaveLength(1);
  clock.advance(1);
  await follow(grown);
  expect(troubles).toHaveLength(2);
  rmSync(folder);
  clock.advance(PAUSE_MS);
  const second = await follow(grown);
  expect(second.shared).not.toBe(first.shared);
  // It has worked again: no pause above a fifth.
  expect((await follow(adding(second, "d"))).shared).not.toBe(second.shared);
  expect(troubles).toHaveLength(2);
});
