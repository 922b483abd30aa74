import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { clearPackLeftovers, noteReplaced } from "../../../src/store/objects/pack-leftovers.ts";
import { packFile, unfinishedPackFile } from "../../../src/store/objects/pack-names.ts";
import { writePack } from "../../../src/store/objects/pack-writer.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

async function packOf(repo: GitRepo, text: string) {
  const builder = packBuilder();
  const bytes = Buffer.from(text);
  builder.add("blob", hashObject("blob", bytes), bytes);
  return writePack(repo.gitdir, builder.finish());
}

const packFiles = (repo: GitRepo) => readdirSync(join(repo.gitdir, "objects/pack")).sort();

test("unfinished files, a pack that never got its idx and our .keep go; whole packs stay", async () => {
  const repo = gitRepo();
  mkdirSync(join(repo.gitdir, "notesd/repack-1/pack"), { recursive: true });
  const [whole, torn] = [await packOf(repo, "whole"), await packOf(repo, "torn")];
  renameSync(packFile(repo.gitdir, torn.name, "idx"), unfinishedPackFile(repo.gitdir, torn.name, "idx"));
  expect(clearPackLeftovers(repo.gitdir).sort()).toEqual([whole.name, torn.name].sort());
  expect(packFiles(repo)).toEqual([`pack-${whole.name}.idx`, `pack-${whole.name}.pack`]);
  expect(existsSync(join(repo.gitdir, "notesd/repack-1"))).toBe(false);
});

test("of packs that were being removed the rest goes, and one that still is whole stays", async () => {
  const repo = gitRepo();
  mkdirSync(join(repo.gitdir, "notesd"));
  const [whole, half] = [await packOf(repo, "whole"), await packOf(repo, "half")];
  for (const { release } of [whole, half]) release();
  noteReplaced(repo.gitdir, [half.name, whole.name]);
  renameSync(packFile(repo.gitdir, half.name, "idx"), join(repo.root, "gone"));
  writeFileSync(join(repo.gitdir, `objects/pack/pack-${"12".repeat(20)}.pack`), "somebody else's");
  clearPackLeftovers(repo.gitdir);
  expect(packFiles(repo)).toEqual(
    [`pack-${"12".repeat(20)}.pack`, `pack-${whole.name}.idx`, `pack-${whole.name}.pack`].sort(),
  );
});
