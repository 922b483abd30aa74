/**
 * What a crash or a stopped merge left among the packs, removed at the next start and when upkeep stops: only what is provably
 * ours. Called while holding the daemon lock, when no pack is being written and the branch is durable: our `.keep` files go too.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import { isUnfinishedPackFile, packFile, packFolder } from "./pack-names.ts";
import { keptPacks, releasePack } from "./pack-writer.ts";

/** Folders below `<gitdir>/notesd` where a Git of ours writes a pack, one each; nobody reads them. */
export const REPACK_FOLDER = "repack-";

const replacedFile = (gitdir: string) => join(gitdir, "notesd", "replaced");

/** Remember which packs a durable one replaces, before the first file of them is removed. */
export function noteReplaced(gitdir: string, names: readonly string[]): void {
  mkdirSync(join(gitdir, "notesd"), { recursive: true });
  writeFileSync(replacedFile(gitdir), names.map((name) => `${name}\n`).join(""));
}

/**
 * Remove the files of packs that another one holds whole. The idx goes first: a pack without idx is invisible to
 * Git, an idx without pack is an error.
 * @returns how many were there
 */
export function removeReplaced(gitdir: string, names: readonly string[]): number {
  let removed = 0;
  for (const name of names) {
    if (orAbsent(() => unlinkSync(packFile(gitdir, name, "idx"))) === undefined) removed++;
    for (const ending of ["rev", "pack"]) orAbsent(() => unlinkSync(packFile(gitdir, name, ending)));
  }
  return removed;
}

/** All removals are done: nothing is owed. */
export function forgetReplaced(gitdir: string): void {
  rmSync(replacedFile(gitdir), { force: true });
}

/**
 * Clear away unfinished packs, packs of ours that never got their idx, the rest of packs that were being removed, and
 * release every `.keep` of ours.
 * @returns names of the packs that were released
 */
export function clearPackLeftovers(gitdir: string): string[] {
  for (const file of orAbsent(() => readdirSync(packFolder(gitdir))) ?? []) {
    if (isUnfinishedPackFile(file)) rmSync(join(packFolder(gitdir), file), { force: true });
  }
  const kept = keptPacks(gitdir);
  const replaced = orAbsent(() => readFileSync(replacedFile(gitdir), "utf8"))?.split("\n") ?? [];
  for (const name of [...kept, ...replaced.filter((line) => /^[0-9a-f]{40}$/.test(line))]) {
    if (existsSync(packFile(gitdir, name, "idx"))) continue;
    for (const ending of ["rev", "pack"]) orAbsent(() => unlinkSync(packFile(gitdir, name, ending)));
  }
  forgetReplaced(gitdir);
  for (const name of kept) releasePack(gitdir, name);
  for (const folder of orAbsent(() => readdirSync(join(gitdir, "notesd"))) ?? []) {
    if (folder.startsWith(REPACK_FOLDER))
      rmSync(join(gitdir, "notesd", folder), { recursive: true, force: true });
  }
  return kept;
}
