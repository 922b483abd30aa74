import { hash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DamagedPack } from "../../../src/store/objects/damaged-pack.ts";
import { mergePacks } from "../../../src/store/objects/merge-packs.ts";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { writePack } from "../../../src/store/objects/pack-writer.ts";
import { replacePacks } from "../../../src/store/objects/replace-packs.ts";
import { doUpkeep } from "../../../src/store/objects/upkeep-work.ts";
import { draft } from "../../support/drafts.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";
import { expectSound, grow, packFiles, reachable } from "../../support/packs.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const names = (repo: GitRepo) => packFiles(repo, ".pack").map((file) => file.slice(5, 45));

function mergeAll(repo: GitRepo, which = names(repo)) {
  const merged = mergePacks(repo.gitdir, which);
  replacePacks(repo.gitdir, merged.name, which);
  return merged;
}

test("packs with deltas and with objects in common become one that native Git verifies", async () => {
  const on = await storeOnGit();
  await grow(on, 30);
  await on.store.close();
  const before = reachable(on.repo);
  const { objects } = mergeAll(on.repo);
  expect(names(on.repo)).toHaveLength(1);
  expect(objects).toBe(Number(/in-pack: (\d+)/.exec(on.repo.git("count-objects", "-v"))?.[1]));
  expect(reachable(on.repo)).toBe(before);
  expectSound(on.repo);
});

test("packs that Git made, with bases named by offset and by id, are merged with ours, in any order", async () => {
  const on = await storeOnGit();
  await grow(on, 8);
  for (const option of ["--delta-base-offset", "--no-reuse-delta"]) {
    const list = on.repo.git("rev-list", "--objects", "HEAD");
    on.repo.gitBytes(["pack-objects", "-q", option, ".git/objects/pack/pack"], `${list}\n`);
    await grow(on, 8, option === "--delta-base-offset" ? 8 : 16);
  }
  await on.store.close();
  expect(
    on.repo.git("verify-pack", "-v", ...packFiles(on.repo, ".idx").map((f) => `.git/objects/pack/${f}`)),
  ).toMatch(/chain length = 1/);
  const before = reachable(on.repo);
  mergeAll(on.repo, names(on.repo).reverse());
  expect(names(on.repo)).toHaveLength(1);
  expect(reachable(on.repo)).toBe(before);
  expectSound(on.repo);
});

test("any packs hold together what each of them held", async () => {
  const content = fc.string({ maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(content, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 }),
      async (packs) => {
        const repo = gitRepo();
        for (const texts of packs) {
          const builder = packBuilder();
          for (const text of texts)
            builder.add("blob", hashObject("blob", Buffer.from(text)), Buffer.from(text));
          (await writePack(repo.gitdir, builder.finish())).release();
        }
        mergeAll(repo);
        const objects = gitObjects(repo.gitdir);
        for (const text of packs.flat()) {
          const bytes = Buffer.from(text);
          expect(objects.read("blob", hashObject("blob", bytes)).equals(bytes)).toBe(true);
        }
        objects.close();
        expectSound(repo);
      },
    ),
    { numRuns: 15 },
  );
});

test("chains that merging would join without end are cut, and every link still reads", async () => {
  const repo = gitRepo();
  const body = (n: number) => Buffer.from(`${"x".repeat(300)}${String(n).padStart(6, "0")}`);
  const id = (n: number) => hashObject("blob", body(n));
  const link = 35;
  const order: string[] = [];
  for (let pack = 0; pack < 8; pack++) {
    const builder = packBuilder();
    // Begins whole with the object that ends the chain of the pack before.
    for (let n = pack * link; n <= (pack + 1) * link; n++) {
      const edit = {
        base: id(n - 1),
        baseLength: 306,
        at: 300,
        removed: 6,
        inserted: body(n).subarray(300),
      };
      builder.add("blob", id(n), body(n), n === pack * link ? undefined : edit);
    }
    const written = await writePack(repo.gitdir, builder.finish());
    written.release();
    order.push(written.name);
  }
  mergeAll(repo, order);
  const idx = packFiles(repo, ".idx")[0] ?? "";
  const chains = [
    ...repo.git("verify-pack", "-v", join(".git/objects/pack", idx)).matchAll(/chain length = (\d+)/g),
  ];
  const longest = Math.max(...chains.map((found) => Number(found[1])));
  expect(longest).toBeGreaterThan(100);
  expect(longest).toBeLessThanOrEqual(200);
  const objects = gitObjects(repo.gitdir);
  for (let n = 0; n <= 8 * link; n++) expect(objects.read("blob", id(n)).equals(body(n))).toBe(true);
  objects.close();
  expectSound(repo);
});

test("small objects, which are written as they are, are deflated on the way, each once", async () => {
  const on = await storeOnGit();
  const text = "the same words over and over\n".repeat(40);
  for (let n = 0; n < 6; n++) await on.store.commit([draft(`notes/${n}.md`, `${n}\n${text}`)]);
  await on.store.close();
  const { bytes } = mergeAll(on.repo);
  expect(bytes).toBeLessThan(6 * text.length);
  expectSound(on.repo);
  expect(on.repo.git("show", "HEAD:notes/5.md")).toBe(`5\n${text}`.trimEnd());
  await on.reopen();
  await grow(on, 1);
  await on.store.close();
  expect(mergeAll(on.repo).bytes).toBeLessThan(bytes + 3_000);
});

test("a flipped bit is found, never copied, and nothing is left of the attempt", async () => {
  const on = await storeOnGit();
  await grow(on, 5);
  await on.store.close();
  const [, second = ""] = names(on.repo);
  const file = packFile(on.repo.gitdir, second, "pack");
  const bytes = readFileSync(file);
  bytes[40] = (bytes[40] ?? 0) ^ 4;
  chmodSync(file, 0o644);
  writeFileSync(file, bytes);
  const before = packFiles(on.repo);
  expect(() => mergePacks(on.repo.gitdir, names(on.repo))).toThrow(DamagedPack);
  expect(packFiles(on.repo)).toEqual(before);
});

/** The checksum of what stands before it. */
const sealed = (idx: Buffer) =>
  Buffer.concat([idx.subarray(0, -20), hash("sha1", idx.subarray(0, -20), "buffer")]);

test.each([
  ["cut short", (idx: Buffer) => idx.subarray(0, 700)],
  ["empty", () => Buffer.alloc(0)],
  ["of version 1", (idx: Buffer) => idx.subarray(8)],
  ["with a flipped bit in an id", (idx: Buffer) => idx.fill((idx[1_032] ?? 0) ^ 8, 1_032, 1_033)],
  ["with ids that are not sorted", (idx: Buffer) => sealed(idx.fill(255, 1_032, 1_033))],
  ["with offsets beyond the pack", (idx: Buffer) => sealed(idx.fill(127, idx.length - 44, idx.length - 40))],
  [
    "of a pack too large to be merged",
    (idx: Buffer) => sealed(idx.fill(255, idx.length - 44, idx.length - 40)),
  ],
])("one idx %s stops nobody: its pack is named and left, the others are put together", async (_, harm) => {
  const on = await storeOnGit();
  await grow(on, 12);
  await on.store.close();
  const [, , third = ""] = names(on.repo);
  const file = packFile(on.repo.gitdir, third, "idx");
  const bytes = readFileSync(file);
  chmodSync(file, 0o644);
  writeFileSync(file, harm(Buffer.from(bytes)));
  const { gitdir } = on.repo;
  const done = doUpkeep({ kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null });
  expect(done).toMatchObject({ packs: 2, removed: 11, damaged: [{ pack: third }] });
  writeFileSync(file, bytes);
  expectSound(on.repo);
});

test.each(["a directory", "garbage"])("a pack that is %s stops nobody either", async (what) => {
  const on = await storeOnGit();
  await grow(on, 12);
  await on.store.close();
  const [, , third = ""] = names(on.repo);
  const file = packFile(on.repo.gitdir, third, "pack");
  const bytes = readFileSync(file);
  rmSync(file);
  if (what === "garbage") writeFileSync(file, randomBytes(bytes.length));
  else mkdirSync(file);
  const { gitdir } = on.repo;
  const done = doUpkeep({ kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null });
  expect(done).toMatchObject({ packs: 2, removed: 11, damaged: [{ pack: third }] });
  rmSync(file, { recursive: true });
  writeFileSync(file, bytes);
  expectSound(on.repo);
});
