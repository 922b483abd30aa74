/**
 * Puts a prepared file at its place, or takes a file away, without ever destroying bytes that a person saved:
 * the old file goes aside, the new one is linked in, and the old one's signature says whether somebody wrote
 * in between. Synchronous: it runs under Git's locks. Durability is `settle.ts`.
 */
import { mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf, inFolder, isSameFile, linkInto, orAbsent } from "../../lib/durable-file.ts";
import { behindLink, type PlainFolders } from "./disk-look.ts";
import { type FileSignature, lstatNow, sameContent, signatureOf } from "./file-signature.ts";

interface Placement {
  readonly path: RepoPath;
  /** Absolute path of the file to link in; null takes the file away. */
  readonly prepared: string | null;
  /** The file that may be replaced, as it was when it was checked; null: there was none. */
  readonly replaced: FileSignature | null;
  /** Absolute path where the old file waits until the new one is durable. */
  readonly aside: string;
}

/**
 * `theirs`: a person saved meanwhile; their file stands and the new bytes are in the commit alone.
 * `blocked`: something that is no folder stands where the path needs one; it stands until its owner moves it.
 */
export type Placed = "placed" | "theirs" | "blocked";

/**
 * Carry out one placement.
 *
 * @throws Node errors (ENOSPC, EACCES, …); the old file is then back where it was, unless the new one stands there or
 * the disk refuses that too: then it is still aside
 * @cost two stats, a rename and a link
 */
export function placeFile(
  root: string,
  { path, prepared, replaced, aside }: Placement,
  plain?: PlainFolders,
): Placed {
  const target = `${root}/${path}`;
  if (behindLink(root, path, plain)) return "theirs";
  if (replaced !== null) {
    // Before the move, so that what is plainly a person's (a new file, a folder) isn't touched at all.
    const standing = lstatNow(target);
    if (standing === null || !sameContent(signatureOf(standing), replaced)) return "theirs";
    if (!setAside(target, aside)) return "theirs";
  }
  try {
    return linkIn(root, { path, prepared, replaced, aside });
  } catch (error) {
    const stands = prepared !== null && isSameFile(prepared, target);
    if (replaced !== null && !stands && lstatNow(aside) !== null) putBack(target, aside);
    throw error;
  }
}

/** False: there was nothing. An error leaves open whether it was moved: the names themselves say. */
function setAside(target: string, aside: string): boolean {
  try {
    return orAbsent(() => renameSync(target, aside)) !== null;
  } catch (error) {
    if (lstatNow(target) !== null || lstatNow(aside) === null) throw error;
    return true;
  }
}

/** The second half: the old file is out of the way. */
function linkIn(root: string, { path, prepared, replaced, aside }: Placement): Placed {
  const target = `${root}/${path}`;
  if (replaced !== null) {
    const moved = lstatNow(aside);
    if (moved === null || !sameContent(signatureOf(moved), replaced)) return putBack(target, aside);
  }
  if (prepared === null) {
    removeEmptyFolders(root, path);
    return "placed";
  }
  try {
    const linked = inFolder(dirname(target), () => linkInto(prepared, target));
    if (!linked) return replaced === null ? "theirs" : keepBoth(target, aside, replaced);
  } catch (error) {
    if (replaced === null && isInTheWay(error)) return "blocked";
    throw error;
  }
  if (replaced !== null && wasWritten(aside, replaced)) return reclaim(target, prepared, aside);
  return "placed";
}

/** Whether a file that was set aside was written to since: somebody had it open. */
export function wasWritten(aside: string, replaced: FileSignature): boolean {
  const stat = lstatNow(aside);
  return stat !== null && !sameContent(signatureOf(stat), replaced);
}

/**
 * Somebody wrote into the old file after it was set aside: theirs takes the place of ours, unless yet another
 * file stands there by now; then it is kept beside it under a name that is reported.
 */
function reclaim(target: string, prepared: string | null, aside: string): Placed {
  const standing = lstatNow(target);
  const ours = prepared === null ? null : lstatNow(prepared);
  if (standing !== null && standing.ino === ours?.ino) renameSync(aside, target);
  else putBack(target, aside);
  return "theirs";
}

/** Give an old file its place back; when a newer one stands there, keep it beside that. */
export function putBack(target: string, aside: string): Placed {
  makeFolder(target);
  const moved = lstatNow(aside);
  if (moved?.isFile() === false) renameSync(aside, target);
  else if (linkInto(aside, target)) unlinkSync(aside);
  else keepBeside(target, aside);
  return "theirs";
}

/** A new file appeared between taking the old one away and linking ours in: an editor's rename. Theirs stays. */
function keepBoth(target: string, aside: string, replaced: FileSignature): Placed {
  if (wasWritten(aside, replaced)) keepBeside(target, aside);
  return "theirs";
}

function keepBeside(target: string, aside: string): void {
  const stem = target.replace(/\.md$/, "");
  for (let n = 1; ; n++) {
    const name = `${stem} (conflicted copy${n === 1 ? "" : ` ${n}`}).md`;
    if (!linkInto(aside, name)) continue;
    unlinkSync(aside);
    return;
  }
}

function makeFolder(target: string): void {
  mkdirSync(dirname(target), { recursive: true });
}

/** Something that is no folder stands where the path needs one. */
function isInTheWay(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "EEXIST" || code === "ENOTDIR";
}

/**
 * As Git does after a removal; a folder that holds anything stays, and so does one at the top: a watcher that
 * looks at a root must not lose it.
 */
function removeEmptyFolders(root: string, path: RepoPath): void {
  for (let folder = dirname(path); dirname(folder) !== "."; folder = dirname(folder)) {
    if (folder === ".") return;
    try {
      rmdirSync(join(root, folder));
    } catch {
      // Trigger: it holds something, or the disk refuses. Why: the file is gone all the same. Outcome: the folder stays.
      return;
    }
  }
}
