/**
 * One durable pack in place of several. Invariant: every object is in a durable pack at every moment, whoever is
 * killed when: the new pack stands, with its idx and synced, before the first old file goes; its `.keep` stands until the last
 * one is gone, so that a `git repack -ad` beside us, which may have counted on the old ones, can't take it too.
 * Synchronous: it runs in a thread of its own.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { orAbsent } from "../../lib/durable-file.ts";
import { forgetReplaced, noteReplaced, removeReplaced } from "./pack-leftovers.ts";
import { listPacks } from "./pack-list.ts";
import { packFile, packFolder, unfinishedPackFile } from "./pack-names.ts";
import { KEEP_TEXT, releasePack } from "./pack-writer.ts";
import { readIdx } from "./read-idx.ts";

/** Moments at which a kill is tried. */
export type ReplaceStep =
  | "written"
  | "kept"
  | "packed"
  | "indexed"
  | "durable"
  | "noted"
  | "removed"
  | "forgotten";

/**
 * Put an unfinished, synced pack into its place and remove the packs that it holds whole.
 *
 * @param name unfinished files of this name exist, pack and idx
 * @param old  packs whose objects are all in it; one that somebody keeps by now stays
 * @returns how many were removed
 * @throws Node errors; nothing that could be seen before was taken away without a durable copy
 */
export function replacePacks(
  gitdir: string,
  name: string,
  old: readonly string[],
  onStep: (step: ReplaceStep) => void = () => {},
): number {
  onStep("written");
  try {
    writeFileSync(unfinishedPackFile(gitdir, name, "keep"), KEEP_TEXT);
    renameSync(unfinishedPackFile(gitdir, name, "keep"), packFile(gitdir, name, "keep"));
    onStep("kept");
    renameSync(unfinishedPackFile(gitdir, name, "pack"), packFile(gitdir, name, "pack"));
    onStep("packed");
    renameSync(unfinishedPackFile(gitdir, name, "idx"), packFile(gitdir, name, "idx"));
    onStep("indexed");
    syncFolder(packFolder(gitdir));
    onStep("durable");
  } catch (error) {
    for (const ending of ["keep", "pack", "idx"])
      rmSync(unfinishedPackFile(gitdir, name, ending), { force: true });
    // Without its idx nobody saw it; with it somebody may count on it.
    if (!existsSync(packFile(gitdir, name, "idx")))
      orAbsent(() => unlinkSync(packFile(gitdir, name, "pack")));
    releasePack(gitdir, name);
    throw error;
  }
  const plain = new Set(listPacks(gitdir).plain.map((pack) => pack.name));
  const replaced = old.filter((one) => plain.has(one) && one !== name);
  noteReplaced(gitdir, replaced);
  onStep("noted");
  const removed = removeReplaced(gitdir, replaced);
  onStep("removed");
  forgetReplaced(gitdir);
  onStep("forgotten");
  releasePack(gitdir, name);
  return removed;
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Whether an unfinished pack holds every object of others, by their idx files. One that is gone asks for nothing. */
export function holdsAll(gitdir: string, name: string, others: readonly string[]): boolean {
  const whole = readIdx(name, readFileSync(unfinishedPackFile(gitdir, name, "idx")));
  return others.every((other) => {
    const bytes = orAbsent(() => readFileSync(packFile(gitdir, other, "idx")));
    if (bytes === null) return true;
    const part = readIdx(other, bytes);
    let at = 0;
    for (let place = 0; place < part.count; place++) {
      const id = part.ids.subarray(place * 20, (place + 1) * 20);
      while (at < whole.count && Buffer.compare(whole.ids.subarray(at * 20, (at + 1) * 20), id) < 0) at++;
      if (at === whole.count || !id.equals(whole.ids.subarray(at * 20, (at + 1) * 20))) return false;
    }
    return true;
  });
}
