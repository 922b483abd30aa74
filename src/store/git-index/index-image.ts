/**
 * An index in memory: one run of entries, sorted, and over it the paths that changed since. With a shared
 * index (Git's split index) the run is that file and the changes are what `index` holds; without one there are no
 * changes, the run is the index file itself. Images never change. Names are compared as bytes, as Git sorts them.
 */
import type { RepoPath } from "../../domain/note.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { CacheTree } from "./cache-tree.ts";
import { FIXED_BYTES, HEADER_BYTES, nameLength, nameStart } from "./index-bytes.ts";

/** Entries that lie one after the other. */
export interface EntryRun {
  readonly bytes: Buffer;
  /** 3 when an entry may have extended flags, else 2. */
  readonly version: number;
  /** Start of each entry, and at last the end of the entries. */
  readonly starts: Uint32Array;
}

/** What a path holds now in place of what the run says of it. */
export interface Change {
  readonly key: Buffer;
  /** The run's entries of this path, or where they would be. */
  readonly at: number;
  readonly over: number;
  /** By stage; none: the path is gone. */
  readonly entries: readonly Buffer[];
}

export interface IndexImage {
  /** That its entries need: 3 when one may have extended flags, else 2. */
  readonly version: number;
  readonly run: EntryRun;
  /** 40 hex digits of the shared index file that the run is; null: none. */
  readonly shared: string | null;
  /** By key, one a path. */
  readonly changes: readonly Change[];
  /** TREE; null: not there, or unreadable. */
  readonly tree: CacheTree | null;
  /** REUC, as it lies in the file without its header. */
  readonly resolveUndo: Buffer | null;
}

export interface IndexEntry {
  readonly path: RepoPath;
  /** e.g. 0o100644 */
  readonly mode: number;
  readonly id: ObjectId;
  /** 0, or 1 to 3 in a conflict. */
  readonly stage: number;
  /** `git add -N`: no content is staged yet. */
  readonly intentToAdd: boolean;
}

/** Where an entry lies. */
export interface RawEntry {
  readonly bytes: Buffer;
  readonly start: number;
}

const STAGE_SHIFT = 12;
const INTENT_TO_ADD = 0x2000;

export const runLength = ({ starts }: EntryRun) => starts.length - 1;
export const startOf = ({ starts }: EntryRun, index: number) => starts[index] ?? HEADER_BYTES;
export const entryBytes = (run: EntryRun, index: number) =>
  run.bytes.subarray(startOf(run, index), startOf(run, index + 1));

/** One entry of a run. */
export const rawAt = (run: EntryRun, index: number): RawEntry => ({
  bytes: run.bytes,
  start: startOf(run, index),
});

/** The name's bytes, shared with the entry. */
export function nameOf({ bytes, start }: RawEntry): Buffer {
  const from = nameStart(bytes, start);
  return bytes.subarray(from, from + nameLength(bytes, start));
}

/** < 0 when the entry's name comes before the key. */
export function compareName({ bytes, start }: RawEntry, key: Buffer): number {
  const from = nameStart(bytes, start);
  return bytes.compare(key, 0, key.length, from, from + nameLength(bytes, start));
}

/**
 * The run's first entry that is not before the key.
 * @param from no entry before it is wanted; one that lies near is found in few steps
 */
export function lowerBound(run: EntryRun, key: Buffer, from = 0): number {
  let low = from;
  let high = from === 0 ? runLength(run) : Math.min(from + 1, runLength(run));
  for (let step = 1; high < runLength(run) && compareName(rawAt(run, high), key) < 0; step *= 2) {
    low = high + 1;
    high = Math.min(high + step, runLength(run));
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareName(rawAt(run, middle), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many entries from here on have this name. */
export function namedSo(run: EntryRun, index: number, key: Buffer): number {
  let end = index;
  while (end < runLength(run) && compareName(rawAt(run, end), key) === 0) end++;
  return end - index;
}

/** The first change that is not before the key. */
export function lowerChange(changes: readonly Change[], key: Buffer): number {
  let low = 0;
  for (let high = changes.length; low < high; ) {
    const middle = (low + high) >>> 1;
    const change = changes[middle];
    if (change !== undefined && change.key.compare(key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the image says of a path, as a change that says the same. @cost two binary searches */
export function standing({ run, changes }: Pick<IndexImage, "run" | "changes">, key: Buffer): Change {
  const change = changes[lowerChange(changes, key)];
  if (change?.key.equals(key)) return change;
  const at = lowerBound(run, key);
  const over = namedSo(run, at, key);
  return { key, at, over, entries: Array.from({ length: over }, (_, n) => entryBytes(run, at + n)) };
}

/** Entries in order, from the first that is not before the key. */
export function* walk({ run, changes }: IndexImage, key?: Buffer): Generator<RawEntry> {
  let at = key === undefined ? 0 : lowerBound(run, key);
  const from = key === undefined ? 0 : lowerChange(changes, key);
  for (let index = from; index < changes.length; index++) {
    const change = changes[index];
    if (change === undefined) break;
    for (; at < change.at; at++) yield { bytes: run.bytes, start: startOf(run, at) };
    for (const bytes of change.entries) yield { bytes, start: 0 };
    at = Math.max(at, change.at + change.over);
  }
  for (; at < runLength(run); at++) yield { bytes: run.bytes, start: startOf(run, at) };
}

export const countOf = ({ run, changes }: Pick<IndexImage, "run" | "changes">) =>
  changes.reduce((sum, { entries, over }) => sum + entries.length - over, runLength(run));

export const stageOf = ({ bytes, start }: RawEntry) => (bytes.readUInt16BE(start + 60) >> STAGE_SHIFT) & 3;

/** The entry has flags that only version 3 knows. */
export const isExtended = ({ bytes, start }: RawEntry) => nameStart(bytes, start) - start > FIXED_BYTES;

export function entryAt(raw: RawEntry): IndexEntry {
  const { bytes, start } = raw;
  const extended = isExtended(raw) ? bytes.readUInt16BE(start + FIXED_BYTES) : 0;
  return {
    // Git's index holds clean paths relative to the root.
    path: nameOf(raw).toString("utf8") as RepoPath,
    mode: bytes.readUInt32BE(start + 24),
    id: bytes.toString("hex", start + 40, start + 60),
    stage: stageOf(raw),
    intentToAdd: (extended & INTENT_TO_ADD) !== 0,
  };
}

/** Folders that hold an entry whose name ends so, "" the root. */
export function foldersOf(image: IndexImage, ending: Buffer): Set<string> {
  const found = new Set<string>();
  let last: Buffer = Buffer.alloc(0);
  for (const { bytes, start } of walk(image)) {
    const from = nameStart(bytes, start);
    const end = from + nameLength(bytes, start);
    // Neighbours mostly share theirs, which is seen without making a text of it.
    if (!endsSo(bytes, from, end, ending) || (found.size > 0 && liesIn(bytes, from, end, last))) continue;
    last = bytes.subarray(from, Math.max(from, bytes.lastIndexOf(SLASH, end - 1) + 1));
    found.add(last.toString("utf8", 0, Math.max(0, last.length - 1)));
  }
  return found;
}

const SLASH = 0x2f;

function endsSo(bytes: Buffer, from: number, end: number, ending: Buffer): boolean {
  const start = end - ending.length;
  if (start < from) return false;
  for (let i = 0; i < ending.length; i++) if (bytes[start + i] !== ending[i]) return false;
  return true;
}

/** Whether a name lies in a folder, given with its slash, and not below. */
function liesIn(bytes: Buffer, from: number, end: number, folder: Buffer): boolean {
  for (let i = 0; i < folder.length; i++) if (bytes[from + i] !== folder[i]) return false;
  for (let at = from + folder.length; at < end; at++) if (bytes[at] === SLASH) return false;
  return true;
}
