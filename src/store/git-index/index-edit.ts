/**
 * Planning and applying edits of an index: which entry gives way to what, and what is left because a person
 * staged it. Every entry that isn't named stays byte for byte.
 */
import type { BigIntStats } from "node:fs";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { type CacheTree, type EditedEntry, followTip, type MovedFolders } from "./cache-tree.ts";
import { changedEntry, newEntry } from "./index-bytes.ts";
import {
  type Change,
  entryAt,
  type IndexImage,
  lowerChange,
  nameOf,
  rawAt,
  runLength,
  standing,
  walk,
} from "./index-image.ts";
import { treeOf } from "./prove-tree.ts";

export interface IndexEdit {
  readonly path: RepoPath;
  /** The blob that the entry must hold; null: there is none (intent-to-add counts as none). */
  readonly expected: BlobId | null;
  /** Null removes the entry. */
  readonly blob: BlobId | null;
  /** Of the file that is or will be in place (ino, size, times), so that `git status` need not hash it. */
  readonly stat: BigIntStats | null;
  /** The branch holds it so. Of a new entry; another keeps its mode. Needed where the edits follow a chain. */
  readonly executable?: boolean;
  /**
   * The entry gets this mode whatever it had, and may be a link or a submodule (`blob` is then that entry's id).
   * Absent: only a regular file's entry is edited.
   */
  readonly mode?: number;
}

const REGULAR = 0o100644;
const EXECUTABLE = 0o100755;
const isRegular = (mode: number) => (mode & 0o170000) === 0o100000;

const startsWith = (name: Buffer, start: Buffer) =>
  name.length >= start.length && name.compare(start, 0, start.length, 0, start.length) === 0;

/** True when an entry that stays stands where the path needs a folder, or below it. */
function isBlocked(image: IndexImage, path: string, here: Change, removed: ReadonlySet<string>): boolean {
  const { before, after } = neighbours(image, here);
  const below = Buffer.from(`${path}/`);
  // What lies below it comes after it, and begins as it does.
  for (const raw of after.some((name) => startsWith(name, here.key)) ? walk(image, below) : []) {
    const name = nameOf(raw);
    if (!startsWith(name, below)) break;
    if (!removed.has(name.toString("utf8"))) return true;
  }
  const folder = here.key.subarray(0, here.key.lastIndexOf(0x2f) + 1);
  // Another file in the same folder: then it is one, and so is all above it.
  const stands = (name: Buffer) => startsWith(name, folder) && standing(image, name).entries.length > 0;
  if ([...before, ...after].some(stands)) return false;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    const folder = path.slice(0, slash);
    if (removed.has(folder)) continue;
    if (standing(image, Buffer.from(folder)).entries.length > 0) return true;
  }
  return false;
}

/** The names next to a path that isn't there, in the run and among the changes, which may name some that are gone. */
function neighbours({ run, changes }: IndexImage, { key, at, over }: Change) {
  const index = lowerChange(changes, key);
  const next = changes[index]?.key.equals(key) ? index + 1 : index;
  const named = (n: number) => (n >= 0 && n < runLength(run) ? [nameOf(rawAt(run, n))] : []);
  const changed = (n: number) => changes.slice(Math.max(n, 0), n + 1).map((change) => change.key);
  return {
    before: [...named(at - 1), ...changed(index - 1)],
    after: [...named(at + over), ...changed(next)],
  };
}

/** What an edit does here: a change, "same" when there is nothing to do, "left" when it isn't ours to change. */
function plan(
  image: IndexImage,
  { path, expected, blob, stat, executable = false, mode }: IndexEdit,
  removed: ReadonlySet<string>,
): { readonly was: number; readonly change: Change } | "same" | "left" {
  const here = standing(image, Buffer.from(path));
  const [bytes] = here.entries;
  const entry = bytes === undefined ? null : entryAt({ bytes, start: 0 });
  const become = (...entries: Buffer[]) => ({
    was: here.entries.length,
    change: { ...here, entries },
  });
  if (bytes === undefined || entry === null || (entry.intentToAdd && expected === null)) {
    if (blob === null) return "same";
    if (expected !== null || isBlocked(image, path, here, removed)) return "left";
    return become(newEntry(here.key, blob, mode ?? (executable ? EXECUTABLE : REGULAR), stat));
  }
  const isOfKind = isRegular(entry.mode) || mode !== undefined;
  if (entry.stage > 0 || !isOfKind || entry.intentToAdd) return "left";
  if (entry.id !== expected && entry.id !== blob) return "left";
  if (blob === null) return become();
  return become(mode === undefined ? changedEntry(bytes, blob, stat) : newEntry(here.key, blob, mode, stat));
}

/** The tip holds the same as the index will: what the proof of a folder's tree needs of each edit. */
function isLevel({ blob, executable = false, mode }: IndexEdit, { entries: [entry] }: Change): boolean {
  if (entry === undefined || blob === null) return true;
  return entryAt({ bytes: entry, start: 0 }).mode === (mode ?? (executable ? EXECUTABLE : REGULAR));
}

/**
 * The image with these changes; the one given stays as it is, and is given back when nothing changes.
 * @param moved empty when the edits follow no chain
 * @cost two binary searches an edit, and one step for each change since the shared index
 */
export function editImage(
  image: IndexImage,
  edits: readonly IndexEdit[],
  moved: MovedFolders,
): { readonly image: IndexImage; readonly left: readonly RepoPath[] } {
  const left: RepoPath[] = [];
  const edited: EditedEntry[] = [];
  const changes: Change[] = [];
  const removed = new Set<string>();
  // Removals first: a file may take the place of a folder whose last file goes in the same edit.
  for (const edit of [
    ...edits.filter((one) => one.blob === null),
    ...edits.filter((one) => one.blob !== null),
  ]) {
    const what = plan(image, edit, removed);
    const path = Buffer.from(edit.path).toString("latin1");
    if (what !== "left" && edit.blob === null) removed.add(edit.path);
    if (what === "left" || what === "same") {
      const level = what === "same" && edit.expected === null;
      edited.push({ path, grown: 0, changed: false, level });
      if (what === "left") left.push(edit.path);
      continue;
    }
    const { was, change } = what;
    const grown = change.entries.length - was;
    edited.push({ path, grown, changed: true, level: isLevel(edit, change) });
    changes.push(change);
  }
  if (changes.length === 0) return { image, left };
  changes.sort((a, b) => a.key.compare(b.key));
  const next = { ...image, changes: merged(image.changes, changes) };
  const prove = (folder: string, folders: readonly CacheTree[]) => treeOf(next, folder, folders);
  return { image: { ...next, tree: followTip(image.tree, edited, moved, prove) }, left };
}

/** Both by key; the newer one counts. A path that the run doesn't have and that is gone again needs no change. */
function merged(older: readonly Change[], newer: readonly Change[]): Change[] {
  const all: Change[] = [];
  let at = 0;
  for (const change of newer) {
    for (let old = older[at]; old !== undefined; old = older[++at]) {
      const order = old.key.compare(change.key);
      if (order > 0) break;
      if (order < 0) all.push(old);
    }
    if (change.over > 0 || change.entries.length > 0) all.push(change);
  }
  for (; at < older.length; at++) all.push(older[at] as Change);
  return all;
}
