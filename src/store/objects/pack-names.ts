/**
 * How packs of ours are named, finished and unfinished. Git takes any 40 hex digits; the names are drawn, not
 * computed, because a pack must never come back under a name that it had before: a `git repack -ad` that saw the
 * first one without `.keep` leaves the objects of the second to its `.keep` and then removes it by its name.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";

/** Names of packs begin so while no Git has looked for deltas among their objects; any other pack may too, by chance. */
const FRESH = "6e6f7465";

/** Written by us alone, or repacked by Git: then its deltas are as small as Git makes them. */
export type PackAge = "fresh" | "packed";

export function newPackName(age: PackAge): string {
  const digits = randomBytes(20).toString("hex");
  if (age === "fresh") return FRESH + digits.slice(FRESH.length);
  return digits.startsWith(FRESH) ? newPackName(age) : digits;
}

export const isFreshPack = (name: string) => name.startsWith(FRESH);

export const packFolder = (gitdir: string) => join(gitdir, "objects", "pack");

export function packFile(gitdir: string, name: string, ending: string): string {
  return join(packFolder(gitdir), `pack-${name}.${ending}`);
}

const UNFINISHED = ".notesd_";

/**
 * A file of a pack that is being written. Hidden, and not called `tmp_`: that is what `git prune --expire=now` takes
 * away from under a writer. What a crash leaves is removed by the next start.
 */
export function unfinishedPackFile(gitdir: string, name: string, ending: string): string {
  return join(packFolder(gitdir), `${UNFINISHED}${name}_${ending}`);
}

export const isUnfinishedPackFile = (file: string) => file.startsWith(UNFINISHED);
