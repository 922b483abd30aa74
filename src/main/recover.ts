/** `notesd recover`: what a start does before it serves, under the same lock, without serving. */

import type { Flags } from "../doors/cli/host.ts";
import { isPurgeOpen } from "../store/purge/plan-file.ts";
import { openStore } from "./open-store.ts";
import { resolveSettings, type Surroundings } from "./resolve.ts";
import { takeLock } from "./take-lock.ts";

/** @returns sentences about what was done; none when nothing was left to do */
export async function recover(flags: Flags, around: Surroundings): Promise<string[]> {
  const resolved = await resolveSettings(flags, around);
  const lock = await takeLock(resolved.place);
  try {
    const purged = isPurgeOpen(resolved.place.gitDir)
      ? [await (await import("./purge/purge.ts")).finishPurge(resolved)]
      : [];
    const store = await openStore(resolved);
    const { carriedOut, locks, packs, owed, unplaced } = store.recovery;
    await store.close();
    return [
      ...purged,
      ...(carriedOut > 0 ? [`carried out ${carriedOut} publications that were cut short`] : []),
      ...locks.map((name) => `removed our own lock ${name}`),
      ...(packs.length > 0 ? [`released ${packs.length} packs`] : []),
      ...unplaced.map(({ path, why }) => `${path} lies in its commit and not on the disk: ${why}`),
      ...owed.map((name) => `${name} waits for a lock of another Git; run this again when that has ended`),
    ];
  } finally {
    lock.release();
  }
}
