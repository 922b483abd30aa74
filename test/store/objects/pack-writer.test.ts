import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { type ObjectEdit, packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { unfinishedPackFile } from "../../../src/store/objects/pack-names.ts";
import { keptPacks, releasePack, writePack } from "../../../src/store/objects/pack-writer.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

const blob = (text: string) => {
  const bytes = Buffer.from(text);
  return { id: hashObject("blob", bytes), bytes };
};

/** A tree of one file and a commit of it, in a pack. */
function smallPack(text = "hello\n") {
  const builder = packBuilder();
  const file = blob(text);
  const tree = Buffer.concat([Buffer.from("100644 a.md\0"), Buffer.from(file.id, "hex")]);
  const treeId = hashObject("tree", tree);
  const commit = Buffer.from(`tree ${treeId}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`);
  const commitId = hashObject("commit", commit);
  for (let round = 0; round < 2; round++) {
    builder.add("blob", file.id, file.bytes);
    builder.add("tree", treeId, tree);
    builder.add("commit", commitId, commit);
  }
  return { finished: builder.finish(), commitId, fileId: file.id };
}

const verify = (repo: GitRepo, name: string) =>
  repo.git("verify-pack", "-v", join(repo.gitdir, `objects/pack/pack-${name}.idx`));

test("Git verifies the pack, finds each object once, and fsck is clean", async () => {
  const repo = gitRepo();
  const { finished, commitId, fileId } = smallPack();
  expect(finished.objects).toBe(3);
  const written = await writePack(repo.gitdir, finished);
  expect(verify(repo, written.name)).toMatch(/^non delta: 3 objects$/m);
  repo.git("update-ref", "refs/heads/main", commitId);
  expect(repo.git("cat-file", "blob", fileId)).toBe("hello");
  expect(repo.git("fsck", "--strict", "--full")).toBe("");
  expect(
    readdirSync(join(repo.gitdir, "objects/pack")).filter((file) => file.startsWith(".notesd_")),
  ).toEqual([]);
});

test("git repack -ad deletes nothing while .keep stands, and may after release", async () => {
  const repo = gitRepo();
  repo.git("commit", "-q", "--allow-empty", "-m", "first");
  const { finished, commitId } = smallPack();
  const written = await writePack(repo.gitdir, finished);
  expect(keptPacks(repo.gitdir)).toEqual([written.name]);
  repo.git("repack", "-adq");
  expect(repo.git("cat-file", "-t", commitId)).toBe("commit");
  written.release();
  written.release();
  expect(keptPacks(repo.gitdir)).toEqual([]);
  repo.git("repack", "-adq");
  expect(repo.tryGit("cat-file", "-t", commitId).status).not.toBe(0);
});

test("git prune --expire=now takes nothing away from a pack that is being written", async () => {
  const repo = gitRepo();
  const unfinished = unfinishedPackFile(repo.gitdir, "0".repeat(40), "pack");
  const forGit = join(repo.gitdir, "objects/pack/tmp_pack_x");
  for (const file of [unfinished, forGit]) writeFileSync(file, "half");
  repo.git("prune", "--expire=now");
  expect([existsSync(unfinished), existsSync(forGit)]).toEqual([true, false]);
});

test("the same objects written again are a pack of another name, so that no .keep comes over a released pack", async () => {
  const repo = gitRepo();
  const first = await writePack(repo.gitdir, smallPack().finished);
  first.release();
  const second = await writePack(repo.gitdir, smallPack().finished);
  expect(second.name).not.toBe(first.name);
  expect(keptPacks(repo.gitdir)).toEqual([second.name]);
});

test("a person's .keep is not ours to remove", async () => {
  const repo = gitRepo();
  const { finished } = smallPack();
  const { name, release } = await writePack(repo.gitdir, finished);
  release();
  const keep = join(repo.gitdir, `objects/pack/pack-${name}.keep`);
  writeFileSync(keep, "");
  releasePack(repo.gitdir, name);
  expect([existsSync(keep), keptPacks(repo.gitdir)]).toEqual([true, []]);
});

test("a pack that can't be put in place leaves nothing behind", async () => {
  const repo = gitRepo();
  const { finished } = smallPack();
  const folder = join(repo.gitdir, "objects/pack");
  mkdirSync(join(folder, `pack-${finished.name}.pack`));
  writeFileSync(join(folder, `pack-${finished.name}.pack`, "x"), "");
  await expect(writePack(repo.gitdir, finished)).rejects.toThrow();
  rmSync(join(folder, `pack-${finished.name}.pack`), { recursive: true });
  expect(readdirSync(folder)).toEqual([]);
});

test("what a crash leaves half written is no pack, neither to Git nor to us", async () => {
  const repo = gitRepo();
  const { finished, commitId } = smallPack();
  const written = await writePack(repo.gitdir, finished);
  repo.git("update-ref", "refs/heads/main", commitId);
  for (const ending of ["pack", "idx"]) {
    writeFileSync(unfinishedPackFile(repo.gitdir, "0".repeat(40), ending), "half");
  }
  expect(gitObjects(repo.gitdir).has(commitId)).toBe(true);
  expect(repo.git("fsck", "--strict", "--full")).toBe("");
  expect(verify(repo, written.name)).toMatch(/non delta: 3 objects/);
});

test("objects of every size, empty and incompressible ones too, come back from Git byte for byte", async () => {
  const repo = gitRepo();
  const builder = packBuilder();
  const sizes = [0, 1, 15, 16, 127, 2047, 2048, 65_535, 65_536, 300_000];
  const blobs = sizes.map((size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * i * 31 + (i >> 3)) & 255));
    const id = hashObject("blob", bytes);
    builder.add("blob", id, bytes);
    return { id, bytes };
  });
  await writePack(repo.gitdir, builder.finish());
  for (const { id, bytes } of blobs) expect(repo.gitBytes(["cat-file", "blob", id]).equals(bytes)).toBe(true);
  expect(repo.gitBytes(["hash-object", "--stdin"], blobs[9]?.bytes).toString().trim()).toBe(blobs[9]?.id);
});

test("any edit stored as a delta is the edited object for Git", async () => {
  const repo = gitRepo();
  const builder = packBuilder();
  const made: { id: string; bytes: Buffer }[] = [];
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 200, maxLength: 400 }),
      fc.nat(200),
      fc.nat(200),
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(1, 400),
      (seed, at, removed, inserted, repeat) => {
        const base = Buffer.concat(Array.from({ length: repeat }, () => seed));
        const cut = Math.min(removed, base.length - at);
        const bytes = Buffer.concat([base.subarray(0, at), inserted, base.subarray(at + cut)]);
        const edit: ObjectEdit = {
          base: hashObject("blob", base),
          baseLength: base.length,
          at,
          removed: cut,
          inserted,
        };
        builder.add("blob", edit.base, base);
        const id = hashObject("blob", bytes);
        builder.add("blob", id, bytes, edit);
        made.push({ id, bytes });
      },
    ),
    { numRuns: 60 },
  );
  const { name } = await writePack(repo.gitdir, builder.finish());
  expect(verify(repo, name)).toMatch(/chain length = 1: \d{2}/);
  const input = made.map(({ id }) => `${id}\n`).join("");
  const out = repo.gitBytes(["cat-file", "--batch=%(objectname)"], input);
  const expected = Buffer.concat(
    made.map(({ id, bytes }) => Buffer.concat([Buffer.from(`${id}\n`), bytes, Buffer.from("\n")])),
  );
  expect(out.equals(expected)).toBe(true);
});

test("a long chain of edits starts again before it is deeper than a reader likes", async () => {
  const repo = gitRepo();
  const builder = packBuilder();
  let base = Buffer.alloc(500, "x");
  builder.add("blob", hashObject("blob", base), base);
  for (let step = 0; step < 100; step++) {
    const inserted = Buffer.from(`${step} `);
    const next = Buffer.concat([inserted, base]);
    const edit = { base: hashObject("blob", base), baseLength: base.length, at: 0, removed: 0, inserted };
    builder.add("blob", hashObject("blob", next), next, edit);
    base = next;
  }
  const { name } = await writePack(repo.gitdir, builder.finish());
  const depths = [...verify(repo, name).matchAll(/chain length = (\d+)/g)].map((found) => Number(found[1]));
  expect(Math.max(...depths)).toBe(40);
});
