/**
 * Which of Git's locks are ours. A lock is a hard link of a file in `<gitdir>/notesd/locks/`, its proof: while the proof
 * stands its inode can't be used again, so "the lock has this inode" proves, also after a crash, that the lock is ours.
 * Taking locks is `git-lock.ts`. Invariant: no other lock is ever removed, and a proof goes only after its lock.
 */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";

/** The file in the Git directory that a lock guards: `index`, `HEAD`, `packed-refs`, `refs/heads/main`. */
export type LockName = string;

/** Bytes waiting to become a guarded file; its link is the lock, its rename the publication. */
export interface Prepared {
  readonly name: LockName;
  /** Absolute path of our file, the proof of ownership. */
  readonly proof: string;
  /** It is empty and never published, so it need not go with its lock; absent: it serves one. */
  readonly serves?: "every group";
}

export const locksFolder = (gitdir: string) => join(gitdir, "notesd", "locks");
export const lockPath = (gitdir: string, name: LockName) => join(gitdir, `${name}.lock`);

/** Device and inode of what stands at a path; null: nothing. */
export function identity(path: string): string | null {
  const stat = orAbsent(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null);
  return stat === null ? null : `${stat.dev}:${stat.ino}`;
}

export const unlinkIfThere = (path: string) => orAbsent(() => unlinkSync(path));

/** Names of the locks standing in the Git directory that are provably ours, from this process or a dead one. */
export function standingOwnLocks(gitdir: string): LockName[] {
  const folder = locksFolder(gitdir);
  const proofs = orAbsent(() => readdirSync(folder)) ?? [];
  const owned = proofs.flatMap((proof) => {
    const name = decodeURIComponent(proof.slice(0, proof.lastIndexOf("~")));
    const mine = identity(join(folder, proof));
    return mine !== null && mine === identity(lockPath(gitdir, name)) ? [name] : [];
  });
  return [...new Set(owned)].sort();
}

/**
 * Remove the locks and prepared files that a dead process of ours left; foreign locks stay.
 * Call it after intents were rolled forward, under the daemon lock.
 * @returns names of the locks removed
 */
export function removeOwnLocks(gitdir: string): LockName[] {
  const names = standingOwnLocks(gitdir);
  for (const name of names) unlinkIfThere(lockPath(gitdir, name));
  const folder = locksFolder(gitdir);
  for (const proof of orAbsent(() => readdirSync(folder)) ?? []) unlinkIfThere(join(folder, proof));
  return names;
}

/** Locks that could not be given back, with the proofs that they are ours. Tried again before anybody is waited for. */
export interface Abandoned {
  /** Remove a lock of ours and leave its proof for the next one. @returns false: the proof has to be given back too */
  free(prepared: Prepared): boolean;
  /** Remove a lock of ours and then its proof; when the disk refuses, that is done later. Never throws. */
  giveBack(prepared: Prepared): void;
  /** Try again. @cost nothing while there are none */
  sweep(): void;
}

/** Remember what can't be removed at once. */
export function abandonedLocks(gitdir: string): Abandoned {
  let left: Prepared[] = [];
  const isGone = ({ name, proof }: Prepared): boolean => {
    try {
      const id = identity(proof);
      if (id !== null && identity(lockPath(gitdir, name)) === id) unlinkIfThere(lockPath(gitdir, name));
      unlinkIfThere(proof);
      return true;
    } catch {
      // Trigger: the disk refuses. Why: what was done under the lock stands. Outcome: tried again before the next lock.
      return false;
    }
  };
  return {
    free({ name, proof }) {
      try {
        const id = identity(proof);
        if (id === null) return false;
        if (identity(lockPath(gitdir, name)) === id) unlinkIfThere(lockPath(gitdir, name));
        return true;
      } catch {
        // Trigger: the disk refuses. Outcome: as with a proof of its own.
        return false;
      }
    },
    giveBack(prepared) {
      if (!isGone(prepared)) left.push(prepared);
    },
    sweep() {
      left = left.filter((one) => !isGone(one));
    },
  };
}
