/**
 * What differs between two trees, and what one tree holds: walks over Git tree objects, in path-byte order.
 * Equal subtrees are skipped unread. Only regular files count; a symlink or a submodule is as if absent.
 * Names that are no UTF-8 are skipped: no note path can name them.
 */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { TreeChange, TreeFile } from "../note-store.ts";

/** Read a tree object's content (without the object header). */
export type ReadTree = (id: string) => Promise<Uint8Array>;

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

/** Where the entry that begins at `at` ends: behind its name's NUL and 20 bytes of id. */
const entryEnd = (tree: Buffer, at: number) => tree.indexOf(0, at) + 21;

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

/** Start of the first entry in which two trees differ; both are the same up to there. */
function firstDifference(a: Buffer, b: Buffer): number {
  let same = 0;
  for (let step = Math.min(a.length, b.length); step > 0; ) {
    const end = Math.min(same + step, a.length, b.length);
    if (end > same && a.compare(b, same, end, same, end) === 0) same = end;
    else step >>= 1;
    if (same === a.length || same === b.length) break;
  }
  let at = 0;
  for (let end = at; at < same; at = end) {
    end = entryEnd(a, at);
    if (end > same) return at;
  }
  return at;
}

/** Entries that differ between two trees, paired by key; equal stretches are passed over as bytes. */
function* differences(a: Buffer, b: Buffer): Generator<readonly [Entry | undefined, Entry | undefined]> {
  const start = firstDifference(a, b);
  for (let i = start, j = start; i < a.length || j < b.length; ) {
    if (a.length - i === b.length - j && a.compare(b, j, b.length, i, a.length) === 0) return;
    const l = i < a.length ? entryAt(a, i) : undefined;
    const r = j < b.length ? entryAt(b, j) : undefined;
    const takeLeft = l !== undefined && (r === undefined || l.entry.key <= r.entry.key);
    const takeRight = r !== undefined && (l === undefined || r.entry.key <= l.entry.key);
    if (takeLeft) i = entryEnd(a, i);
    if (takeRight) j = entryEnd(b, j);
    const old = takeLeft && l.legible ? l.entry : undefined;
    const now = takeRight && r.legible ? r.entry : undefined;
    if (old?.id !== now?.id || old?.kind !== now?.kind) yield [old, now];
  }
}

/**
 * The regular files that differ from one tree to another, by path bytes.
 *
 * @param before tree id; null: everything in `after` is new
 * @param after  tree id; null: everything in `before` is gone
 * @cost one read for each folder that differs, twice where both sides have it
 */
export async function diffTrees(
  read: ReadTree,
  before: string | null,
  after: string | null,
  filter: PathFilter = everyPath,
): Promise<TreeChange[]> {
  const changes: TreeChange[] = [];
  await walk("", before, after);
  return changes;

  async function walk(folder: string, a: string | null, b: string | null): Promise<void> {
    if (a === b) return;
    const [left, right] = await Promise.all(
      [a, b].map(async (id) => view(id === null ? NOTHING : await read(id))),
    );
    for (const [old, now] of differences(left ?? NOTHING, right ?? NOTHING)) await compare(folder, old, now);
  }

  async function compare(folder: string, old: Entry | undefined, now: Entry | undefined): Promise<void> {
    // One key on both sides is a folder on both or on neither: the slash tells.
    const path = folder + (now ?? old)?.name;
    if (old?.kind === "folder" || now?.kind === "folder") {
      if (filter.folder(path)) await walk(`${path}/`, old?.id ?? null, now?.id ?? null);
      return;
    }
    // Joined from tree entries, so it is relative and slash separated.
    const file = path as RepoPath;
    const was = old?.kind === "file" ? (old.id as BlobId) : null;
    const is = now?.kind === "file" ? (now.id as BlobId) : null;
    if (was !== is && filter.file(file)) changes.push({ path: file, before: was, after: is });
  }
}

/** Every wanted regular file of a tree, by path bytes. @cost one read for each folder that can hold one */
export async function listTree(read: ReadTree, tree: string, filter: PathFilter): Promise<TreeFile[]> {
  const files: TreeFile[] = [];
  for (const { path, after } of await diffTrees(read, null, tree, filter)) {
    if (after !== null) files.push({ path, blob: after });
  }
  return files;
}

/** The blob at a path of a tree; null when absent or no regular file. @cost one read for each folder on the way */
export async function blobInTree(read: ReadTree, tree: string, path: RepoPath): Promise<BlobId | null> {
  const segments = path.split("/");
  const last = segments.pop();
  let at = tree;
  for (const segment of segments) {
    const next = parseTree(await read(at)).find((e) => e.kind === "folder" && e.name === segment);
    if (next === undefined) return null;
    at = next.id;
  }
  const found = parseTree(await read(at)).find((e) => e.kind === "file" && e.name === last);
  return found === undefined ? null : (found.id as BlobId);
}
