/**
 * Recovery at start, and of `notesd recover`: intents are rolled forward under our own locks, and only then are
 * locks, prepared files and stale .keep files of a dead process removed. What is a person's is never removed.
 * Call it while holding the daemon lock.
 */
import { readdirSync, readFileSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import type { OpenIntent } from "../commit/intents.ts";
import { syncFiles } from "../files/sync-files.ts";
import { blobId } from "../objects/object-id.ts";
import { clearPackLeftovers } from "../objects/pack-leftovers.ts";
import { keptPacks } from "../objects/pack-writer.ts";
import { removeOwnLocks } from "../refs/own-locks.ts";
import { asStorageError, withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { clearAbandonedPushes } from "./abandoned-pushes.ts";
import { carryOut, isRefused, type Refused } from "./carry-out.ts";
import { concerned } from "./concerned.ts";

export interface RecoveryReport {
  /** Publications that a crash had cut short and that were carried out now. */
  readonly carriedOut: number;
  /** Names of intents that a lock of a person's Git keeps waiting. */
  readonly owed: readonly string[];
  /** Names of intents that only files the disk refuses keep waiting; the Git index is level. */
  readonly stuck: readonly string[];
  /** Intents that were carried out in this run of the machine: their files may wait on to be synced. */
  readonly placed: readonly OpenIntent[];
  /** Files of published commits that the disk refuses, and why; tried again in the background. */
  readonly unplaced: readonly { readonly path: RepoPath; readonly why: string }[];
  /** Locks of ours that were removed, e.g. `index`. */
  readonly locks: readonly string[];
  /** Packs whose `.keep` was released. */
  readonly packs: readonly string[];
}

/**
 * Bring the repository to the state that the last publication promised. Safe to repeat.
 *
 * @throws NotesError STORAGE the branch is malformed, gone, or its tip can't be read; nothing was removed then
 */
export async function recover(parts: StoreParts): Promise<RecoveryReport> {
  const { root, gitdir, intents, table } = parts;
  const tip = parts.branch.toBuildOn();
  if (tip !== null) verifyTip(parts, tip);
  const open = intents.list();
  // In this run of the machine nothing was lost of what is in its place, whatever became of the branch since.
  const isInPlace = (one: OpenIntent) => one.placed && !one.rebooted;
  const placed = open.filter(isInPlace);
  const published = await publishedOf(
    parts,
    open.filter((one) => !isInPlace(one)),
    tip,
  );
  // The process may have ended before its sync: until then intents and .keep are all that a power cut leaves.
  if (published.length > 0 || keptPacks(gitdir).length > 0)
    await withStorageErrors("syncing the branch", parts.refSync.sync);
  const owed: string[] = [];
  const stuck: string[] = [];
  let refused: Refused = new Map();
  const toCarryOut = concerned(published, placed, table.base);
  if (toCarryOut.length > 0) {
    try {
      refused = await carryOut(parts, toCarryOut);
      await syncFiles(root, new Set(published.flatMap(({ intent }) => intent.files.map((f) => f.path))));
      await table.sync();
      for (const { name, intent } of published) {
        if (isRefused(refused, intent)) stuck.push(name);
        else intents.close([name]);
      }
    } catch (error) {
      // A person's Git holds a lock. Reads can be served; the first write carries it out, or answers REPO_BUSY.
      if (!(error instanceof NotesError && error.code === "REPO_BUSY")) throw error;
      owed.push(...published.map(({ name }) => name));
    }
  }
  const locks = owed.length > 0 ? [] : removeOwnLocks(gitdir);
  await withStorageErrors("clearing what a crash left", () =>
    clearFolders(parts, owed.length + stuck.length > 0),
  );
  const packs = clearPackLeftovers(gitdir);
  clearTemporaryFiles(parts);
  clearAbandonedPushes(gitdir, parts.clock.now());
  intents.tidy();
  const carriedOut = published.filter((one) => !one.placed).length - (owed.length > 0 ? published.length : 0);
  const unplaced = [...refused].map(([path, error]) => ({ path, why: whyOf(error) }));
  return { carriedOut: Math.max(0, carriedOut), owed, stuck, placed, unplaced, locks, packs };
}

/**
 * Intents whose new tip the branch holds; the others are forgotten: of them nothing happened but prepared files.
 * @param open  oldest first @cost a walk for the newest one; each that it was built on follows from it
 */
async function publishedOf(
  parts: StoreParts,
  open: readonly OpenIntent[],
  tip: CommitId | null,
): Promise<OpenIntent[]> {
  const published: OpenIntent[] = [];
  const builtOn = new Set<CommitId | null>();
  for (const one of [...open].reverse()) {
    const { from, to } = one.intent;
    if (tip !== null && (builtOn.has(to) || (await holds(parts, to, tip)))) {
      published.unshift(one);
      builtOn.add(from);
    } else parts.intents.close([one.name]);
  }
  return published;
}

function whyOf(error: unknown): string {
  const clear = asStorageError(error, "placing the file");
  return clear instanceof Error ? clear.message : String(clear);
}

/** The tip must be a commit whose tree can be read, or nothing may be built on it. */
function verifyTip({ objects, ref }: StoreParts, tip: string): void {
  try {
    objects.read("tree", objects.read("commit", tip).toString("latin1", 5, 45));
  } catch (error) {
    const why = error instanceof NotesError ? error.message : String(error);
    throw new NotesError(
      "STORAGE",
      `The tip ${tip} of ${ref} can't be read: ${why} Restore the object from a clone, or move the branch back by its reflog.`,
      { commit: tip },
      error,
    );
  }
}

async function holds({ log }: StoreParts, to: CommitId, tip: CommitId) {
  try {
    return await log.isAncestor(to, tip);
  } catch (error) {
    // Its pack never became durable.
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return false;
    throw error;
  }
}

/**
 * Prepared files go. A file set aside goes when history holds its bytes; one that a person wrote, and that no
 * intent names any more, stays where it is.
 */
function clearFolders({ gitdir, objects }: StoreParts, owing: boolean): void {
  if (owing) return;
  const prepared = join(gitdir, "notesd", "prepared");
  for (const name of orAbsent(() => readdirSync(prepared)) ?? [])
    orAbsent(() => unlinkSync(join(prepared, name)));
  const aside = join(gitdir, "notesd", "aside");
  for (const name of orAbsent(() => readdirSync(aside)) ?? []) {
    const bytes = orAbsent(() => readFileSync(join(aside, name)));
    if (bytes !== null && objects.has(blobId(bytes))) unlinkSync(join(aside, name));
  }
}

/**
 * What durable writes left half done under their hidden names, of the files that only the holder of the daemon lock
 * writes: also those of the notebook, which may be large, or lie where a person sees them.
 */
function clearTemporaryFiles({ root, gitdir }: StoreParts): void {
  for (const [folder, pattern] of [
    [join(gitdir, "notesd", "intents"), /^\.\d{12}\.json\.[0-9a-f]{12}\.tmp$/],
    [join(gitdir, "notesd"), /^\.(?:base|base\.log|keep|heads|seen\.json|checkpoint)\.[0-9a-f]{12}\.tmp$/],
    [root, /^\.notes_index\.json\.[0-9a-f]{12}\.tmp$/],
  ] as const) {
    const names = orAbsent(() => readdirSync(folder)) ?? [];
    for (const name of names.filter((one) => pattern.test(one)))
      orAbsent(() => unlinkSync(join(folder, name)));
  }
  // Packs that a remote was sending.
  const daemon = join(gitdir, "notesd");
  for (const name of orAbsent(() => readdirSync(daemon)) ?? [])
    if (/^incoming-[A-Za-z0-9]{6}$/.test(name)) rmSync(join(daemon, name), { recursive: true, force: true });
}
