/**
 * Which packs to put together, by size alone; pure. Packs of about one size go together, so that a byte is copied
 * once for each level it climbs: three times on its way from a group's pack to 256 MiB.
 */
import type { PackOnDisk } from "./pack-list.ts";

/** How hard to try: `busy` keeps up with writing, `quiet` leaves few. */
export type Effort = "busy" | "quiet";

const FIRST_LEVEL_BYTES = 512 << 10;
const LEVEL_FACTOR = 8;
const LEVELS = 4;
/** Packs from this size on are copied no more in process: 256 MiB. */
const MOST_BYTES = FIRST_LEVEL_BYTES * LEVEL_FACTOR ** (LEVELS - 1);
/**
 * Packs of one level that may stand side by side. `busy` is asked for only when there are many of the lowest; `quiet`
 * at each pause in writing, and then a few of the lowest stay, so that not every write is followed by a copy of them all.
 */
const MOST_AT_A_LEVEL: Readonly<Record<Effort, readonly number[]>> = {
  busy: [1, 8, 8, 8],
  quiet: [4, 3, 3, 3],
};

function levelOf({ bytes }: PackOnDisk): number {
  let level = 0;
  for (let limit = FIRST_LEVEL_BYTES; bytes >= limit; limit *= LEVEL_FACTOR) level++;
  return level;
}

/**
 * Choose packs to merge into one.
 * @param plain smallest first
 * @returns none when there is nothing to gain; call again after a merge until then
 */
export function chooseToMerge(plain: readonly PackOnDisk[], effort: Effort): PackOnDisk[] {
  const chosen: PackOnDisk[] = [];
  let bytes = 0;
  for (let level = 0; level < LEVELS; level++) {
    const here = plain.filter((pack) => levelOf(pack) === level);
    if (here.length <= (MOST_AT_A_LEVEL[effort][level] ?? 0)) continue;
    for (const pack of here) {
      if (bytes + pack.bytes > MOST_BYTES) break;
      bytes += pack.bytes;
      chosen.push(pack);
    }
  }
  return chosen.length > 1 ? chosen : [];
}

/** Fresh bytes below which a repack would gain too little. */
const WORTH_BYTES = 1 << 20;
/** As `git repack --geometric=2`: a pack over twice what is below it stays as it is. */
const REPACK_FACTOR = 2;

/**
 * Choose packs for Git to look for deltas in: the fresh ones but the smallest, and of the others those that are not larger
 * than twice what goes with them, so that each object is repacked a few times in its life and never more. A repack may
 * take many minutes, and what it reads can't be put together meanwhile; so the small ones, which are many, are put together first.
 */
export function chooseToRepack(plain: readonly PackOnDisk[]): PackOnDisk[] {
  const chosen = plain.filter((pack) => pack.fresh && levelOf(pack) > 0);
  let bytes = chosen.reduce((sum, pack) => sum + pack.bytes, 0);
  if (bytes < WORTH_BYTES) return [];
  for (const pack of plain) {
    if (pack.fresh) continue;
    if (pack.bytes > REPACK_FACTOR * bytes) break;
    bytes += pack.bytes;
    chosen.push(pack);
  }
  return chosen;
}
