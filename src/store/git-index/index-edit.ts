/**
 * Planning and applying edits of an index: which entry gives way to what, and what is left because a person
 * staged it. Every entry that isn't named stays byte for byte.
 */
import type { BigIntStats } from "node:fs";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { type CacheTree, type EditedEntry, followTip, type MovedFolders } from "./cache-tree.ts";
import {
  changedEntry,
  extensionBytes,
  HEADER_BYTES,
  newEntry,
  type ParsedIndex,
  withChecksum,
} from "./index-bytes.ts";
import { compareName, entryAt, lowerBound, nameOf, startOf } from "./index-entries.ts";

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
}

const REGULAR = 0o100644;
const EXECUTABLE = 0o100755;
const isRegular = (mode: number) => (mode & 0o170000) === 0o100000;

/** True when an entry that stays stands where the path needs a folder, or below it. */
function isBlocked(parsed: ParsedIndex, path: string, removed: ReadonlySet<string>): boolean {
  const count = parsed.starts.length - 1;
  const below = Buffer.from(`${path}/`);
  for (let at = lowerBound(parsed, below); at < count; at++) {
    const name = nameOf(parsed, at);
    if (!name.subarray(0, below.length).equals(below)) break;
    if (!removed.has(name.toString("utf8"))) return true;
  }
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    const folder = path.slice(0, slash);
    const at = lowerBound(parsed, Buffer.from(folder));
    if (at < count && !removed.has(folder) && compareName(parsed, at, Buffer.from(folder)) === 0) return true;
  }
  return false;
}

interface Replacement {
  /** Entries from `first` to before `next` give way to `entry`. */
  readonly first: number;
  readonly next: number;
  readonly entry: Buffer | null;
}

/** What an edit does here: a replacement, "same" when there is nothing to do, "left" when it isn't ours to change. */
function plan(
  parsed: ParsedIndex,
  { path, expected, blob, stat, executable = false }: IndexEdit,
  removed: ReadonlySet<string>,
): Replacement | "same" | "left" {
  const key = Buffer.from(path);
  const first = lowerBound(parsed, key);
  const count = parsed.starts.length - 1;
  const here = first < count && compareName(parsed, first, key) === 0 ? entryAt(parsed, first) : null;
  if (here === null || (here.intentToAdd && expected === null)) {
    const next = here === null ? first : first + 1;
    if (blob === null) return "same";
    if (expected !== null || isBlocked(parsed, path, removed)) return "left";
    return { first, next, entry: newEntry(key, blob, executable ? EXECUTABLE : REGULAR, stat) };
  }
  if (here.stage > 0 || !isRegular(here.mode) || here.intentToAdd) return "left";
  if (here.id !== expected && here.id !== blob) return "left";
  if (blob === null) return { first, next: first + 1, entry: null };
  const entry = parsed.bytes.subarray(startOf(parsed, first), startOf(parsed, first + 1));
  return { first, next: first + 1, entry: changedEntry(entry, blob, stat) };
}

interface Planned extends Replacement {
  readonly key: Buffer;
}

/** The tip holds the same as the index will: what the proof of a folder's tree needs of each edit. */
function isLevel({ blob, executable = false }: IndexEdit, what: Replacement | "same"): boolean {
  if (what === "same" || what.entry === null || blob === null) return true;
  return what.entry.readUInt32BE(24) === (executable ? EXECUTABLE : REGULAR);
}

/**
 * An index with these changes; the one given stays as it is.
 * @param moved empty when the edits follow no chain
 * @cost one copy and one SHA-1 of the file
 */
export function editIndex(
  parsed: ParsedIndex,
  edits: readonly IndexEdit[],
  moved: MovedFolders,
): { readonly parsed: ParsedIndex; readonly left: readonly RepoPath[] } {
  const left: RepoPath[] = [];
  const edited: EditedEntry[] = [];
  const replacements: Planned[] = [];
  const removed = new Set<string>();
  // Removals first: a file may take the place of a folder whose last file goes in the same edit.
  for (const edit of [
    ...edits.filter((one) => one.blob === null),
    ...edits.filter((one) => one.blob !== null),
  ]) {
    const what = plan(parsed, edit, removed);
    const key = Buffer.from(edit.path);
    const path = key.toString("latin1");
    if (what !== "left" && edit.blob === null) removed.add(edit.path);
    if (what === "left" || what === "same") {
      const level = what === "same" && edit.expected === null;
      edited.push({ path, grown: 0, changed: false, level });
      if (what === "left") left.push(edit.path);
      continue;
    }
    const grown = (what.entry === null ? 0 : 1) - (what.next - what.first);
    edited.push({ path, grown, changed: true, level: isLevel(edit, what) });
    replacements.push({ ...what, key });
  }
  if (replacements.length === 0) return { parsed, left };
  replacements.sort((a, b) => Buffer.compare(a.key, b.key));
  const tree = parsed.tree === null ? null : followTip(parsed.tree, edited, moved);
  return { parsed: spliced(parsed, replacements, tree), left };
}

/** Copy and hash once; where entries start is carried over instead of found again. */
function spliced(parsed: ParsedIndex, replacements: readonly Planned[], tree: CacheTree | null): ParsedIndex {
  const { bytes, version, starts, resolveUndo } = parsed;
  const grown = replacements.reduce(
    (sum, { first, next, entry }) => sum + (entry === null ? 0 : 1) - (next - first),
    0,
  );
  const moved = new Uint32Array(starts.length + grown);
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
  header.writeUInt32BE(moved.length - 1, 8);
  const parts: Uint8Array[] = [header];
  let from = 0;
  let to = 0;
  let at = HEADER_BYTES;
  const keepUntil = (first: number) => {
    const start = startOf(parsed, from);
    const end = startOf(parsed, first);
    parts.push(bytes.subarray(start, end));
    const by = at - start;
    if (by === 0) moved.set(starts.subarray(from, first), to);
    else for (let index = from; index < first; index++) moved[to + index - from] = (starts[index] ?? 0) + by;
    to += first - from;
    at += end - start;
  };
  for (const { first, next, entry } of replacements) {
    keepUntil(first);
    from = next;
    if (entry === null) continue;
    parts.push(entry);
    moved[to++] = at;
    at += entry.length;
  }
  keepUntil(starts.length - 1);
  moved[to] = at;
  if (tree !== null) parts.push(extensionBytes("TREE", tree.bytes));
  if (resolveUndo !== null) parts.push(extensionBytes("REUC", resolveUndo));
  return { bytes: withChecksum(parts), version, starts: moved, tree, resolveUndo };
}
