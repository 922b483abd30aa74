/**
 * A lock of somebody else's that stands for longer than a command takes: an editor open in `git commit -a`, or what a
 * killed Git left. Who writes waits for it where it takes its own locks; here it is only seen, for people.
 */
import { lstatSync } from "node:fs";
import { orAbsent } from "../../lib/durable-file.ts";
import type { RepoState } from "../note-store.ts";
import { lockPath, standingOwnLocks } from "./own-locks.ts";

/** Younger ones come and go with every command. */
export const LONG_STANDING_MS = 500;

/**
 * @param nowMs of the machine that writes the files' times
 * @cost one lstat a lock; the folder of our own proofs when one stands long
 */
export function foreignLock(
  gitdir: string,
  ref: string,
  nowMs: number,
): Extract<RepoState, { readonly state: "locked" }> | null {
  for (const name of ["index", "HEAD", ref]) {
    const stat = orAbsent(() => lstatSync(lockPath(gitdir, name)));
    if (stat === null || nowMs - stat.ctimeMs < LONG_STANDING_MS) continue;
    if (!standingOwnLocks(gitdir).includes(name)) return { state: "locked", path: `${name}.lock` };
  }
  return null;
}
