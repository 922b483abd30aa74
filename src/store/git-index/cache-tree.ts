/**
 * The index's TREE extension: Git's record of which folders' trees are already written, and under which ids.
 * Git trusts it blindly, and a wrong id would commit wrong content: so a changed folder gets a valid id only where
 * it is proved to be the tip's (`followTip`), and is marked invalid everywhere else, as Git itself marks it.
 * Nodes never change; an update makes new ones along the changed paths, so that its cost follows the change.
 * @see gitformat-index(5), "Cache tree"
 */
import type { ObjectId } from "../objects/object-id.ts";
import type { ProvenTree } from "./prove-tree.ts";

export interface CacheTree {
  /** Of one folder, in raw bytes as latin1; "" the root. */
  readonly name: string;
  /** Entries of the index below it; -1: invalid, without an id. */
  readonly count: number;
  readonly id: ObjectId | null;
  readonly folders: readonly CacheTree[];
  /** As it lies in the file, with everything below it. */
  readonly bytes: Buffer;
  /** How often a change below an invalid folder found it so. */
  readonly misses: number;
}

/** What a chain of commits made of the folders that it touched; by path in raw bytes as latin1, "" the root. */
export type MovedFolders = ReadonlyMap<string, MovedFolder>;

export interface MovedFolder {
  /** The tree in the chain's base; null: there was none, or it isn't known. */
  readonly before: ObjectId | null;
  /** The tree in the chain's tip. Stale when the folder is gone from the tip. */
  readonly after: ObjectId;
}

/** One edit of the index, as the cache-tree needs it. */
export interface EditedEntry {
  /** Raw bytes as latin1. */
  readonly path: string;
  /** How many entries more the index has there now: -1, 0, 1. */
  readonly grown: number;
  /** The index itself changed here. */
  readonly changed: boolean;
  /** Index and the chain's tip hold the same here now: entry, mode and blob, or nothing. */
  readonly level: boolean;
}

/** @returns null when the content can't be read: leaving the extension out is always right */
export function parseCacheTree(content: Buffer): CacheTree | null {
  return parse(content, { at: 0 });
}

function parse(content: Buffer, position: { at: number }): CacheTree | null {
  const from = position.at;
  const nul = content.indexOf(0, from);
  const end = content.indexOf(0x0a, nul + 1);
  if (nul < 0 || end < 0) return null;
  const [, count, below] = /^(-?\d+) (\d+)$/.exec(content.toString("latin1", nul + 1, end)) ?? [];
  if (count === undefined) return null;
  const isValid = Number(count) >= 0;
  position.at = end + 1 + (isValid ? 20 : 0);
  if (position.at > content.length) return null;
  const id = isValid ? content.toString("hex", end + 1, end + 21) : null;
  const folders: CacheTree[] = [];
  for (let left = Number(below); left > 0; left--) {
    const child = parse(content, position);
    if (child === null) return null;
    folders.push(child);
  }
  const name = content.toString("latin1", from, nul);
  return { name, count: Number(count), id, folders, bytes: content.subarray(from, position.at), misses: 0 };
}

function node(
  name: string,
  count: number,
  id: ObjectId | null,
  folders: readonly CacheTree[],
  misses = 0,
): CacheTree {
  const head = Buffer.from(`${name}\0${count} ${folders.length}\n`, "latin1");
  const own = id === null ? [head] : [head, Buffer.from(id, "hex")];
  const bytes = Buffer.concat([...own, ...folders.map((one) => one.bytes)]);
  return { name, count, id, folders, bytes, misses };
}

/** The edits of one folder and, by name, of those below it. */
interface Touched {
  readonly path: string;
  readonly folders: Map<string, Touched>;
  grown: number;
  changed: boolean;
  level: boolean;
}

const touchedAt = (path: string): Touched => ({
  path,
  folders: new Map(),
  grown: 0,
  changed: false,
  level: true,
});

function gather(edits: Iterable<EditedEntry>): Touched {
  const root = touchedAt("");
  for (const edit of edits) {
    const add = (one: Touched) => {
      one.grown += edit.grown;
      one.changed ||= edit.changed;
      one.level &&= edit.level;
    };
    let at = root;
    add(at);
    let from = 0;
    for (let slash = edit.path.indexOf("/"); slash >= 0; slash = edit.path.indexOf("/", from)) {
      const name = edit.path.slice(from, slash);
      const child = at.folders.get(name) ?? touchedAt(edit.path.slice(0, slash));
      at.folders.set(name, child);
      add(child);
      at = child;
      from = slash + 1;
    }
  }
  return root;
}

/** Git keeps them by length, then by bytes. */
const order = (a: CacheTree, b: CacheTree) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1);

/**
 * The cache-tree after edits of the index that follow a chain of commits.
 *
 * The proof of an id: a folder whose node is valid holds in the index exactly the tree of that id. When this is its
 * tree in the chain's base, and everything that the chain changed below it was changed in the index alike, then
 * the index holds its tree in the chain's tip. A folder that a person staged something in has no valid node, or
 * one of another tree.
 * Where that proof fails the tree is made of the entries themselves and compared with the tip's; so a cache-tree
 * becomes whole that was never made, or was marked by what a person staged and committed. A folder that fails this
 * as well is marked invalid, and tried ever more rarely.
 *
 * @param root null: there is none yet
 * @param edits all paths that the chain changed, whether or not the index followed
 * @param moved the chain's folders; empty when the edits are of no chain: all that changed is marked invalid
 * @param prove the tree of a folder by the entries of the index as edited
 * @returns null when no entry is left, or nothing is known
 * @cost follows the folders touched and how many folders lie in them
 */
export function followTip(
  root: CacheTree | null,
  edits: Iterable<EditedEntry>,
  moved: MovedFolders,
  prove: Prove,
): CacheTree | null {
  return follow({ before: root, isEmpty: false }, gather(edits), { moved, prove });
}

type Prove = (folder: string, folders: readonly CacheTree[]) => ProvenTree | null;

interface Ground {
  readonly moved: MovedFolders;
  readonly prove: Prove;
}

interface Place {
  /** Null: no node, which under an invalid folder means nothing. */
  readonly before: CacheTree | null;
  /** Neither the index nor the chain's base had anything there. */
  readonly isEmpty: boolean;
}

function follow({ before, isEmpty }: Place, touched: Touched, ground: Ground): CacheTree | null {
  if (!touched.changed) return before;
  const isKnown = isEmpty || (before !== null && before.count >= 0);
  const move = ground.moved.get(touched.path);
  const isBase = isEmpty || (before !== null && before.id !== null && before.id === move?.before);
  const had = before?.folders ?? [];
  const folders = had.filter((one) => !touched.folders.has(one.name));
  for (const [name, below] of touched.folders) {
    const child = had.find((one) => one.name === name) ?? null;
    // A valid folder names all folders in it: one that is missing had no entries.
    const after = follow({ before: child, isEmpty: child === null && isBase }, below, ground);
    if (after !== null) folders.push(after);
  }
  folders.sort(order);
  const count = (before?.count ?? 0) + touched.grown;
  const name = touched.path.slice(touched.path.lastIndexOf("/") + 1);
  if (isKnown && count <= 0) return null;
  const isProved = isBase && touched.level && folders.every((one) => one.count >= 0);
  if (isProved && move !== undefined) return node(name, count, move.after, folders);
  const misses = before?.misses ?? 0;
  // The first, second, fourth, eighth … time: what stays staged for long costs little.
  if (move !== undefined && (misses & (misses - 1)) === 0) {
    const proven = ground.prove(touched.path, folders);
    if (proven?.id === move.after) return node(name, proven.count, proven.id, proven.folders);
  }
  const isUnknown = before === null && folders.length === 0 && move === undefined;
  return isUnknown ? null : node(name, -1, null, folders, misses + 1);
}
