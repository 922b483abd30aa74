/**
 * Writes and deletes refs that are ours alone (`refs/notesd/…`), each under its own lock, durably.
 * The branch itself is never written here: its move is the publication.
 */
import { readFileSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { errnoOf, fsyncFolder, orAbsent } from "../../lib/durable-file.ts";
import type { GitObjects } from "../objects/objects.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { GitLocks, HeldLocks } from "./git-lock.ts";
import type { Prepared } from "./own-locks.ts";
import { isRefName, readRef } from "./refs.ts";

/** Where a person's mark is kept. @param name  of the mark, 16 of a-z2-7 */
export const reviewRef = (name: string): string => `refs/notesd/review/${name}`;

function assertOurs(name: string): void {
  if (!name.startsWith("refs/notesd/") || !isRefName(name))
    throw new NotesError("INTERNAL", `${name} is not one of the daemon's own refs`);
}

function under<T>(locks: GitLocks, prepared: readonly Prepared[], work: (held: HeldLocks) => T): Promise<T> {
  return locks.acquire(prepared).then((held) => {
    try {
      return work(held);
    } finally {
      held.release();
    }
  });
}

/**
 * Create or move a ref. Writing the id it holds already is no change.
 * @throws NotesError UNKNOWN_COMMIT it is not here: such a ref stops every Git that walks from all refs; REPO_BUSY its
 *   lock is held; STORAGE the disk refuses
 */
export async function writeLocalRef(
  { gitdir, locks, objects }: { gitdir: string; locks: GitLocks; objects: Pick<GitObjects, "has"> },
  name: string,
  id: CommitId,
) {
  assertOurs(name);
  if (readRef(gitdir, name) === id) return;
  if (!objects.has(id))
    throw new NotesError("UNKNOWN_COMMIT", `${id} is not here, and ${name} was to hold it.`, { commit: id });
  const prepared = await locks.prepare(name, `${id}\n`);
  await withStorageErrors(`writing ${name}`, async () => {
    await under(locks, [prepared], (held) => held.publish(name));
    await fsyncFolder(dirname(join(gitdir, name)));
  });
}

/** Remove a ref, loose and packed; absent is no error. Packed first, or the old value would come back. */
export async function deleteLocalRef(locks: GitLocks, gitdir: string, name: string) {
  assertOurs(name);
  if (readRef(gitdir, name) === null) return;
  await withStorageErrors(`deleting ${name}`, async () => {
    const own = await locks.prepare(name, "");
    const packed = await locks.prepare("packed-refs", "");
    await under(locks, [packed, own], (held) => {
      const text = orAbsent(() => readFileSync(join(gitdir, "packed-refs"), "latin1"));
      const kept = text === null ? null : without(text, name);
      if (kept !== null && kept !== text) {
        held.replace("packed-refs", Buffer.from(kept, "latin1"));
        held.publish("packed-refs");
      }
      orAbsent(() => unlinkSync(join(gitdir, name)));
    });
    await fsyncFolder(gitdir);
    removeEmptyFolders(gitdir, dirname(name));
  });
}

/** packed-refs without one ref and the peeled line that may follow it. */
function without(text: string, name: string): string {
  const lines = text.split("\n");
  const latin1 = Buffer.from(name).toString("latin1");
  const at = lines.findIndex((line) => line.slice(41) === latin1 && !line.startsWith("#"));
  if (at < 0) return text;
  lines.splice(at, lines[at + 1]?.startsWith("^") ? 2 : 1);
  return lines.join("\n");
}

function removeEmptyFolders(gitdir: string, folder: string): void {
  for (let current = folder; current.startsWith("refs/notesd/"); current = dirname(current)) {
    try {
      rmdirSync(join(gitdir, current));
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOENT") return;
      throw error;
    }
  }
}
