/**
 * What differs between two trees, and what one tree holds: walks over Git tree objects, in path-byte order.
 * Equal subtrees are skipped unread. Only regular files count; a symlink or a submodule is as if absent.
 * Names that are no UTF-8 are skipped: no note path can name them.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { generationCache } from "../../lib/generation-cache.ts";
import { slicer } from "../../lib/slicer.ts";
import type { TreeChange, TreeFile } from "../note-store.ts";

/** A tree object's content (without the object header), and where its entries start once that is known. */
interface TreeBytes {
  readonly bytes: Buffer;
  starts: number[] | null;
}

export type ReadTree = (id: string) => TreeBytes;

/**
 * Trees by id, the last used kept: along a history a tree is looked at twice, as what came and as what was.
 * @param maxBytes  0: none is kept
 */
export function treeReader(read: (id: string) => Uint8Array, maxBytes: number): ReadTree {
  const bytesOf = ({ bytes }: TreeBytes) => bytes.length + TREE_OVERHEAD_BYTES;
  const kept = generationCache<string, TreeBytes>(maxBytes, bytesOf);
  return (id) => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const tree: TreeBytes = { bytes: view(read(id)), starts: null };
    kept.set(id, tree);
    return tree;
  };
}

/** Objects around a tree's bytes, and where its entries start. */
const TREE_OVERHEAD_BYTES = 1_000;

/** Which paths are wanted, and which folders can hold one; `folder` has no trailing slash. */
export interface PathFilter {
  file(path: RepoPath): boolean;
  folder(path: string): boolean;
}

export const everyPath: PathFilter = { file: () => true, folder: () => true };

interface Entry {
  /** Latin-1 reading of the name's bytes, with a slash behind folders: compares as Git sorts. */
  readonly key: string;
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
  readonly id: string;
}

const NOTHING = Buffer.alloc(0);
const view = (content: Uint8Array) => Buffer.from(content.buffer, content.byteOffset, content.byteLength);

/** Where the entry that begins at `at` ends: behind its name's NUL and 20 bytes of id. @throws NotesError STORAGE */
function entryEnd(tree: Buffer, at: number): number {
  const nul = tree.indexOf(0, at);
  if (nul < 0 || nul + 21 > tree.length) {
    throw new NotesError("STORAGE", "A tree object is malformed; run git fsck on the repository.");
  }
  return nul + 21;
}

function startsOf(tree: TreeBytes): number[] {
  if (tree.starts !== null) return tree.starts;
  const starts: number[] = [];
  for (let at = 0; at < tree.bytes.length; at = entryEnd(tree.bytes, at)) starts.push(at);
  tree.starts = starts;
  return starts;
}

/** Read one entry. `legible` says that its name is UTF-8. */
function entryAt(tree: Buffer, at: number): { readonly entry: Entry; readonly legible: boolean } {
  const space = tree.indexOf(0x20, at);
  const nul = tree.indexOf(0, space);
  const mode = tree.toString("latin1", at, space);
  const raw = tree.toString("latin1", space + 1, nul);
  const ascii = !/[^\0-\x7f]/.test(raw);
  const name = ascii ? raw : tree.toString("utf8", space + 1, nul);
  const kind = mode === "40000" ? "folder" : mode.startsWith("100") ? "file" : "other";
  const key = kind === "folder" ? `${raw}/` : raw;
  const id = tree.toString("hex", nul + 1, nul + 21);
  return { entry: { key, name, kind, id }, legible: ascii || Buffer.from(name).toString("latin1") === raw };
}

/** Parse a tree object into its entries, in Git's order. Names that are no UTF-8 are left out. */
export function parseTree(content: Uint8Array): Entry[] {
  const tree = view(content);
  const entries: Entry[] = [];
  for (let at = 0; at < tree.length; at = entryEnd(tree, at)) {
    const { entry, legible } = entryAt(tree, at);
    if (legible) entries.push(entry);
  }
  return entries;
}

/** How many entries two trees have alike at their heads. */
function sameEntries(a: TreeBytes, b: Buffer): number {
  const starts = startsOf(a);
  const startOf = (index: number) => starts[index] ?? a.bytes.length;
  let same = 0;
  let high = starts.length;
  // A file that came last is the usual difference: so the whole is looked at first.
  for (let middle = high; same < high; middle = (same + high + 1) >> 1) {
    const [from, to] = [startOf(same), startOf(middle)];
    if (to <= b.length && a.bytes.compare(b, from, to, from, to) === 0) same = middle;
    else high = middle - 1;
  }
  return same;
}

/**
 * Tell each entry that differs between two trees, paired by key; equal stretches are passed over as bytes.
 * The starts of `a` go over to `b`, which a history looks at next.
 */
function eachDifference(
  a: TreeBytes,
  b: TreeBytes,
  told: (old: Entry | undefined, now: Entry | undefined) => void,
): void {
  const [left, right] = [a.bytes, b.bytes];
  const starts = startsOf(a);
  const same = sameEntries(a, right);
  const from = starts[same] ?? left.length;
  let passed = same;
  const met: number[] = [];
  let i = from;
  let j = from;
  while (i < left.length || j < right.length) {
    if (left.length - i === right.length - j && left.compare(right, j, right.length, i, left.length) === 0)
      break;
    const l = i < left.length ? entryAt(left, i) : undefined;
    const r = j < right.length ? entryAt(right, j) : undefined;
    const takeLeft = l !== undefined && (r === undefined || l.entry.key <= r.entry.key);
    const takeRight = r !== undefined && (l === undefined || r.entry.key <= l.entry.key);
    if (takeLeft) {
      i = entryEnd(left, i);
      passed++;
    }
    if (takeRight) {
      met.push(j);
      j = entryEnd(right, j);
    }
    const old = takeLeft && l.legible ? l.entry : undefined;
    const now = takeRight && r.legible ? r.entry : undefined;
    if (old?.id !== now?.id || old?.kind !== now?.kind) told(old, now);
  }
  if (b.starts !== null) return;
  a.starts = null;
  b.starts = starts;
  const moved = j - i;
  // Also where as much was taken away as was added: between those two the entries lie elsewhere.
  if (moved === 0 && met.length === passed - same && met.every((at, k) => at === starts[same + k])) return;
  starts.splice(same, passed - same, ...met);
  for (let index = same + met.length; index < starts.length; index++)
    starts[index] = (starts[index] ?? 0) + moved;
}

/**
 * The regular files that differ from one tree to another, by path bytes.
 *
 * @param before tree id; null: everything in `after` is new
 * @param after  tree id; null: everything in `before` is gone
 * @cost one read for each folder that differs, twice where both sides have it
 */
export function diffTrees(
  read: ReadTree,
  before: string | null,
  after: string | null,
  filter: PathFilter = everyPath,
): TreeChange[] {
  const changes: TreeChange[] = [];
  walk("", before, after);
  return changes;

  function walk(folder: string, a: string | null, b: string | null): void {
    if (a === b) return;
    const nothing = { bytes: NOTHING, starts: null };
    eachDifference(a === null ? nothing : read(a), b === null ? nothing : read(b), (old, now) =>
      compare(folder, old, now),
    );
  }

  function compare(folder: string, old: Entry | undefined, now: Entry | undefined): void {
    // One key on both sides is a folder on both or on neither: the slash tells.
    const path = folder + (now ?? old)?.name;
    if (old?.kind === "folder" || now?.kind === "folder") {
      if (filter.folder(path)) walk(`${path}/`, old?.id ?? null, now?.id ?? null);
      return;
    }
    // Joined from tree entries, so it is relative and slash separated.
    const file = path as RepoPath;
    const was = old?.kind === "file" ? (old.id as BlobId) : null;
    const is = now?.kind === "file" ? (now.id as BlobId) : null;
    if (was !== is && filter.file(file)) changes.push({ path: file, before: was, after: is });
  }
}

/**
 * Every wanted regular file of a tree, by path bytes; the loop has its turns meanwhile.
 * @cost one read for each folder that can hold one
 */
export async function listTree(read: ReadTree, tree: string, filter: PathFilter): Promise<TreeFile[]> {
  const files: TreeFile[] = [];
  const turn = slicer();
  async function walk(folder: string, id: string): Promise<void> {
    const { bytes } = read(id);
    for (let at = 0; at < bytes.length; at = entryEnd(bytes, at)) {
      const { entry, legible } = entryAt(bytes, at);
      const pause = turn();
      if (pause) await pause;
      if (!legible) continue;
      const path = folder + entry.name;
      if (entry.kind === "folder") {
        if (filter.folder(path)) await walk(`${path}/`, entry.id);
        // Joined from tree entries, so it is relative and slash separated.
      } else if (entry.kind === "file" && filter.file(path as RepoPath))
        files.push({ path: path as RepoPath, blob: entry.id as BlobId });
    }
  }
  await walk("", tree);
  return files;
}

/** The blob at a path of a tree; null when absent or no regular file. @cost one read for each folder on the way */
export function blobInTree(read: ReadTree, tree: string, path: RepoPath): BlobId | null {
  const segments = path.split("/");
  const last = segments.pop();
  let at = tree;
  for (const segment of segments) {
    const next = parseTree(read(at).bytes).find((e) => e.kind === "folder" && e.name === segment);
    if (next === undefined) return null;
    at = next.id;
  }
  const found = parseTree(read(at).bytes).find((e) => e.kind === "file" && e.name === last);
  return found === undefined ? null : (found.id as BlobId);
}
