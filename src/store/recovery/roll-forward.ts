/**
 * Carries out what intents still owe: working files and Git index entries of commits that the branch holds.
 * Used at start and for what a publication could not place. Runs under Git's own locks.
 * Invariant: a file is written only where it is provably still the one that was to be replaced, or ours.
 */
import { readFileSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { orAbsent, writeNewSync } from "../../lib/durable-file.ts";
import type { IntentFile, Intents, OpenIntent } from "../commit/intents.ts";
import { behindLink } from "../files/disk-look.ts";
import { lstatNow, sameContent, signatureOf, signatureText } from "../files/file-signature.ts";
import { type Placed, placeFile, putBack, wasWritten } from "../files/place.ts";
import { blobId } from "../objects/object-id.ts";

interface RollForward {
  readonly root: string;
  readonly intents: Intents;
  readonly readBlob: (id: BlobId) => Uint8Array;
  /** The branch's blob at a path now; only what it still wants is placed. */
  readonly tipBlob: (path: RepoPath) => BlobId | null;
}

export type RolledFile =
  | {
      readonly kind: "rolled";
      readonly path: RepoPath;
      /** What the working file is known to hold now: the base of later comparisons. */
      readonly base: BlobId | null;
    }
  /** The disk refused this one file; it is owed on, and no other waits for it. */
  | { readonly kind: "refused"; readonly path: RepoPath; readonly error: unknown };

const BLOCKED = "a file or a link stands where its folder must be; move it";

interface Owed extends IntentFile {
  /** The file was in its place already; it may only be torn. */
  readonly placed: boolean;
}

/** The intents' files by path, oldest first. */
function byPath(open: readonly OpenIntent[]): Map<RepoPath, Owed[]> {
  const paths = new Map<RepoPath, Owed[]>();
  for (const { intent, placed, rebooted } of open) {
    // After a power cut a file may be missing, or the old one back, though it was in its place.
    // One that was left to its person owes nothing, and tells nothing of what it holds.
    for (const file of intent.files.filter(({ left }) => left !== true))
      paths.set(file.path, [...(paths.get(file.path) ?? []), { ...file, placed: placed && !rebooted }]);
  }
  return paths;
}

/**
 * Place every file that published intents owe.
 *
 * @param published intents whose new tip the branch holds, oldest first
 * @returns one for each path; a refused one is tried again by a later call
 */
export function rollFilesForward(ground: RollForward, published: readonly OpenIntent[]): RolledFile[] {
  return [...byPath(published)].map(([path, owed]) => {
    try {
      const base = settle(ground, path, owed);
      if (base === BLOCKED) return { kind: "refused", path, error: new Error(BLOCKED) };
      for (const file of owed) returnAside(ground, file);
      return { kind: "rolled", path, base };
    } catch (error) {
      return { kind: "refused", path, error };
    }
  });
}

function settle(ground: RollForward, path: RepoPath, owed: readonly Owed[]): BlobId | null | typeof BLOCKED {
  const target = join(ground.root, path);
  const standing = behindLink(ground.root, path) ? null : lstatNow(target);
  const held = standing === null ? null : standing.isFile() ? blobOf(target) : undefined;
  const known = [...owed].reverse().find(({ after }) => after === held);
  // The newest state that an intent gave the file; on top of it whatever a person did since.
  const reached = [...owed].reverse().find(({ placed }) => placed);
  const state = known ?? reached;
  const base = state === undefined ? (owed[0]?.before ?? null) : state.after;
  const last = owed.at(-1);
  if (last === undefined || known === last || ground.tipBlob(path) !== last.after) return base;
  if (!isOurs(ground, owed, path, held)) return base;
  const placed = place(ground, path, last.after);
  return placed === "blocked" ? BLOCKED : placed === "placed" ? last.after : base;
}

function blobOf(file: string): BlobId | null {
  const bytes = orAbsent(() => readFileSync(file));
  return bytes === null ? null : blobId(bytes);
}

/**
 * Whether the working file may be written over: one that we linked (inode and mtime; linking changes ctime),
 * still the replaced one (all four values, or all but ctime and its very bytes: taken aside and put back), or absent
 * while the old one waits aside or there was none.
 *
 * @param held what the file holds; null: nothing, undefined: it is no file
 */
function isOurs(
  { root, intents }: RollForward,
  owed: readonly Owed[],
  path: RepoPath,
  held: BlobId | null | undefined,
): boolean {
  if (behindLink(root, path)) return false;
  const stat = lstatNow(join(root, path));
  return owed.some(({ replaced, prepared, aside, before, placed }) => {
    if (stat !== null && prepared?.ino === String(stat.ino) && prepared.mtimeNs === String(stat.mtimeNs))
      return true;
    if (placed) return false;
    if (stat !== null) {
      if (replaced === null) return false;
      const now = signatureOf(stat);
      return (
        signatureText(now) === signatureText(replaced) || (held === before && sameContent(now, replaced))
      );
    }
    const old = lstatNow(intents.aside(aside));
    return replaced === null ? before === null : old !== null && String(old.ino) === replaced.ino;
  });
}

function place({ root, intents, readBlob }: RollForward, path: RepoPath, blob: BlobId | null): Placed {
  const old = lstatNow(join(root, path));
  const replaced = old === null ? null : signatureOf(old);
  const aside = intents.aside(intents.newName());
  const prepared = blob === null ? null : intents.prepared(intents.newName());
  if (prepared !== null && blob !== null) {
    writeNewSync(prepared, readBlob(blob), { mode: old === null ? 0o666 : Number(old.mode & 0o777n) });
  }
  try {
    return placeFile(root, { path, replaced, prepared, aside });
  } finally {
    if (prepared !== null) orAbsent(() => unlinkSync(prepared));
    returnAside({ root, intents }, { path, replaced, aside: basename(aside) });
  }
}

/**
 * Deal with a file that was set aside: one that still is what was replaced is in history and goes; one that a
 * person wrote into since comes back, beside what stands in its place.
 */
export function returnAside(
  { root, intents }: Pick<RollForward, "root" | "intents">,
  { path, aside, replaced }: Pick<IntentFile, "path" | "aside" | "replaced">,
): void {
  const waiting = intents.aside(aside);
  if (lstatNow(waiting) === null) return;
  if (replaced === null || wasWritten(waiting, replaced)) putBack(join(root, path), waiting);
  else unlinkSync(waiting);
}
