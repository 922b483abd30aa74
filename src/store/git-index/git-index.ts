/**
 * Git's index, of which only our entries are ever changed; every other entry stays byte for byte. What a
 * person staged is theirs: an entry that isn't what we expected is left alone and reported.
 * Optional extensions: TREE is kept with our folders marked invalid, REUC is kept, caches that our change
 * would make wrong (UNTR, FSMN, EOIE, IEOT) are left out as Git leaves out those it doesn't know.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import type { TreeFile } from "../note-store.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { invalidateCacheTree } from "./cache-tree.ts";
import {
  changedEntry,
  emptyIndex,
  extensionBytes,
  HEADER_BYTES,
  nameStart,
  newEntry,
  type ParsedIndex,
  parseIndex,
  withChecksum,
} from "./index-bytes.ts";

interface IndexEntry {
  readonly path: RepoPath;
  /** e.g. 0o100644 */
  readonly mode: number;
  readonly id: ObjectId;
  /** 0, or 1 to 3 in a conflict. */
  readonly stage: number;
  /** `git add -N`: no content is staged yet. */
  readonly intentToAdd: boolean;
}

export interface IndexEdit {
  readonly path: RepoPath;
  /** The blob that the entry must hold; null: there is none (intent-to-add counts as none). */
  readonly expected: BlobId | null;
  /** Null removes the entry. */
  readonly blob: BlobId | null;
  /** Of the file that is or will be in place (ino, size, times), so that `git status` need not hash it. */
  readonly stat: BigIntStats | null;
  /** Of a new entry; another keeps its mode. */
  readonly executable?: boolean;
}

interface EditedIndex {
  readonly bytes: Buffer;
  /** Paths that hold what a person staged, or are in conflict; unchanged. */
  readonly left: readonly RepoPath[];
}

export interface GitIndex {
  readonly count: number;
  /** Entries of a path: none, one of stage 0, or up to three of a conflict. @cost a binary search */
  at(path: RepoPath): IndexEntry[];
  entries(): IterableIterator<IndexEntry>;
  /**
   * The bytes of an index with these changes.
   * @param edits one a path; together they make a tree (no addition stands where another needs a folder)
   * @cost one copy and one SHA-1 of the file: 17 ms at 100,000 entries
   */
  edit(edits: readonly IndexEdit[]): EditedIndex;
}

const STAGE_SHIFT = 12;
const INTENT_TO_ADD = 0x2000;
const REGULAR = 0o100644;
const EXECUTABLE = 0o100755;
const isRegular = (mode: number) => (mode & 0o170000) === 0o100000;

/**
 * Which file this is: equal means that nobody wrote the index in between. `absent` when there is none.
 * @cost one open, one stat, one read of 20 bytes
 */
export function indexSignature(gitdir: string): string {
  const fd = orAbsent(() => openSync(join(gitdir, "index"), "r"));
  if (fd === null) return "absent";
  try {
    const stat = fstatSync(fd, { bigint: true });
    const checksum = Buffer.alloc(20);
    readSync(fd, checksum, 0, 20, Math.max(0, Number(stat.size) - 20));
    return `${stat.ino}:${stat.size}:${stat.mtimeNs}:${checksum.toString("hex")}`;
  } finally {
    closeSync(fd);
  }
}

/** Permission bits for a new index file: those of the one it replaces. */
export function indexMode(gitdir: string): number {
  const fd = orAbsent(() => openSync(join(gitdir, "index"), "r"));
  if (fd === null) return 0o644;
  try {
    return fstatSync(fd).mode & 0o777;
  } finally {
    closeSync(fd);
  }
}

/** The index as it stands; one without entries when there is no file. @throws NotesError STORAGE as `gitIndex` */
export function readIndex(gitdir: string): { readonly index: GitIndex; readonly signature: string } {
  for (;;) {
    const signature = indexSignature(gitdir);
    const bytes = orAbsent(() => readFileSync(join(gitdir, "index")));
    // Read again when Git renamed a new one into place in between.
    if (indexSignature(gitdir) === signature) return { index: gitIndex(bytes ?? emptyIndex()), signature };
  }
}

/**
 * An index over its bytes.
 * @param trusted our own bytes, whose checksum need not be proved
 * @throws NotesError STORAGE damaged, version 4, split, sparse or with an unknown required extension
 */
export function gitIndex(bytes: Buffer, trusted = false): GitIndex {
  const parsed = parseIndex(bytes, trusted);
  const count = parsed.starts.length - 1;
  return {
    count,
    at(path) {
      const key = Buffer.from(path);
      const found: IndexEntry[] = [];
      for (let index = lowerBound(parsed, key); index < count; index++) {
        if (compareName(parsed, index, key) !== 0) break;
        found.push(entryAt(parsed, index));
      }
      return found;
    },
    *entries() {
      for (let index = 0; index < count; index++) yield entryAt(parsed, index);
    },
    edit: (edits) => applyEdits(parsed, edits),
  };
}

const startOf = ({ starts }: ParsedIndex, index: number) => starts[index] ?? HEADER_BYTES;

function nameOf(parsed: ParsedIndex, index: number): Buffer {
  const from = nameStart(parsed.bytes, startOf(parsed, index));
  return parsed.bytes.subarray(from, parsed.bytes.indexOf(0, from));
}

const compareName = (parsed: ParsedIndex, index: number, key: Buffer) =>
  Buffer.compare(nameOf(parsed, index), key);

function lowerBound(parsed: ParsedIndex, key: Buffer): number {
  let low = 0;
  for (let high = parsed.starts.length - 1; low < high; ) {
    const middle = (low + high) >>> 1;
    if (compareName(parsed, middle, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function entryAt(parsed: ParsedIndex, index: number): IndexEntry {
  const { bytes } = parsed;
  const start = startOf(parsed, index);
  const name = nameStart(bytes, start);
  const extended = name - start > 62 ? bytes.readUInt16BE(start + 62) : 0;
  return {
    // Git's index holds clean paths relative to the root.
    path: nameOf(parsed, index).toString("utf8") as RepoPath,
    mode: bytes.readUInt32BE(start + 24),
    id: bytes.toString("hex", start + 40, start + 60),
    stage: (bytes.readUInt16BE(start + 60) >> STAGE_SHIFT) & 3,
    intentToAdd: (extended & INTENT_TO_ADD) !== 0,
  };
}

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

function applyEdits(parsed: ParsedIndex, edits: readonly IndexEdit[]): EditedIndex {
  const left: RepoPath[] = [];
  const changed: string[] = [];
  const replacements: (Replacement & { readonly key: Buffer })[] = [];
  const removed = new Set<string>();
  // Removals first: a file may take the place of a folder whose last file goes in the same edit.
  for (const edit of [
    ...edits.filter((one) => one.blob === null),
    ...edits.filter((one) => one.blob !== null),
  ]) {
    const what = plan(parsed, edit, removed);
    if (what !== "left" && edit.blob === null) removed.add(edit.path);
    if (what === "left") left.push(edit.path);
    else if (what !== "same") {
      replacements.push({ ...what, key: Buffer.from(edit.path) });
      changed.push(Buffer.from(edit.path).toString("latin1"));
    }
  }
  if (replacements.length === 0) return { bytes: parsed.bytes, left };
  replacements.sort((a, b) => Buffer.compare(a.key, b.key));

  const header = Buffer.from(parsed.bytes.subarray(0, HEADER_BYTES));
  const parts: Uint8Array[] = [header];
  let count = parsed.starts.length - 1;
  let from = 0;
  for (const { first, next, entry } of replacements) {
    parts.push(parsed.bytes.subarray(startOf(parsed, from), startOf(parsed, first)));
    if (entry !== null) parts.push(entry);
    count += (entry === null ? 0 : 1) - (next - first);
    from = next;
  }
  parts.push(parsed.bytes.subarray(startOf(parsed, from), startOf(parsed, parsed.starts.length - 1)));
  header.writeUInt32BE(count, 8);
  for (const extension of parsed.extensions) {
    const content =
      extension.signature === "TREE" ? invalidateCacheTree(extension.content, changed) : extension.content;
    const kept = extension.signature === "TREE" || extension.signature === "REUC";
    if (kept && content !== null) parts.push(extensionBytes({ signature: extension.signature, content }));
  }
  return { bytes: withChecksum(parts), left };
}

/**
 * Paths that a person has staged: the index differs from the tip in content, presence or by a conflict.
 * @param tip files of the tip that are looked at, in order of path bytes
 * @param isWatched which index entries to compare, e.g. notes
 * @cost one step for each entry and file
 */
export function stagedPaths(
  index: GitIndex,
  tip: readonly TreeFile[],
  isWatched: (path: RepoPath) => boolean,
): Set<RepoPath> {
  const staged = new Set<RepoPath>();
  const missing = new Map(tip.map((file) => [file.path, file.blob]));
  for (const entry of index.entries()) {
    const blob = missing.get(entry.path);
    if (blob === undefined && !isWatched(entry.path)) continue;
    missing.delete(entry.path);
    if (entry.intentToAdd ? blob !== undefined : entry.stage > 0 || entry.id !== blob) staged.add(entry.path);
  }
  for (const path of missing.keys()) staged.add(path);
  return staged;
}
