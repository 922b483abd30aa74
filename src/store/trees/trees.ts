/**
 * The tree of the tip, loaded folder by folder as paths are touched and patched in place along a chain of
 * commits. Each `write` gives the trees that changed, deepest first; the caller puts them into a pack.
 * Synchronous throughout. The invariant: an entry that no `set` named keeps its bytes (mode, name, id).
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { folderOf, nameOf } from "../../lib/slash-path.ts";
import type { Entry } from "../advance.ts";
import { hashObject, type ObjectId } from "../objects/object-id.ts";
import type { ObjectEdit } from "../objects/pack-bytes.ts";
import { toEntry } from "./entry-diff.ts";
import { isFolder, type TreeEntry, type TreeNode, treeNode } from "./tree-node.ts";

export interface WrittenTree {
  /** Its path in raw bytes as latin1; "" the root. */
  readonly folder: string;
  readonly id: ObjectId;
  readonly bytes: Buffer;
  /** How it differs from the tree that stood in its place, for a delta. Absent for a new folder. */
  readonly edit?: ObjectEdit;
}

export interface TreeChain {
  /** Go to a commit's tree (null: nothing yet). Unwritten changes are dropped; unchanged folders stay loaded. */
  start(root: ObjectId | null): void;
  /** The regular file's blob in the tree as patched so far; null when absent or not a regular file. */
  blobAt(path: RepoPath): BlobId | null;
  /** Whether a regular file stands there in the tree as patched so far that is executable (100755). */
  isExecutable(path: RepoPath): boolean;
  /** Names and entries of a folder as patched so far; empty when there is none. */
  list(folder: string): { readonly name: string; readonly mode: string; readonly id: ObjectId }[];
  /**
   * Put a blob at a path (a new file is 100644, or 100755 when `executable`; another keeps its mode), or remove it and the folders it leaves empty.
   * @throws NotesError CONFLICT a component is no folder, or the path is no regular file; nothing changed
   */
  set(path: RepoPath, blob: BlobId | null, executable?: boolean): void;
  /** The entry of any kind but a folder, as patched so far; null: there is none. */
  entryAt(path: RepoPath): Entry | null;
  /** As `set`, with an entry of any kind in the place of what is no folder. */
  put(path: RepoPath, entry: Entry | null): void;
  /** Undo every `set` and `put` since the last `write` or `start`. */
  rollback(): void;
  /**
   * Give every tree that changed since the last `write`, each once, deepest first, and return the root's id.
   * @cost follows the folders touched and their size, not the repository's
   */
  write(emit: (tree: WrittenTree) => void): ObjectId;
}

interface Loaded {
  readonly node: TreeNode;
  /** Null while it has changes that were not written. */
  id: ObjectId | null;
  /** Id and length as last written or read. */
  base: { readonly id: ObjectId; readonly length: number } | null;
  /** Bytes of memory it was counted with. */
  cost: number;
}

interface TreeChainSettings {
  /** Bytes of tree data kept between groups; what a chain touches is kept until written. */
  readonly maxBytes?: number;
}

const FOLDER = "40000";
/** Memory of one entry's key and offset, roughly. */
const ENTRY_OVERHEAD_BYTES = 80;
const costOf = (node: TreeNode) => node.length + node.count * ENTRY_OVERHEAD_BYTES;
const depth = (folder: string) => (folder === "" ? 0 : folder.split("/").length);
const deepestFirst = (a: string, b: string) => depth(b) - depth(a) || (a < b ? -1 : 1);
const isRegular = (entry: TreeEntry) => entry.mode.startsWith("100");
const raw = (text: string) => Buffer.from(text).toString("latin1");

function refuse(path: string, why: string): NotesError {
  const text = Buffer.from(path, "latin1").toString("utf8");
  return new NotesError("CONFLICT", `${text} can't be written: ${why}. Move it or choose another path.`, {
    path: text,
  });
}

/** @param readTree the bytes of a tree that exists; throws when it is damaged or missing */
export function treeChain(
  readTree: (id: ObjectId) => Uint8Array,
  settings: TreeChainSettings = {},
): TreeChain {
  const maxBytes = settings.maxBytes ?? 24 << 20;
  /** By path in raw bytes, "" the root; least recently touched first. */
  const loaded = new Map<string, Loaded>();
  let undo: { readonly path: string; readonly before: TreeEntry | null }[] = [];
  let root: ObjectId | null = null;
  /** The folder that was used last: using it again changes nothing. */
  let newest: string | null = null;
  /** Folders with unwritten changes. */
  const changed = new Set<string>();
  let heldBytes = 0;

  const keep = (folder: string, one: Loaded) => {
    heldBytes += one.cost;
    loaded.set(folder, one);
  };
  const drop = (folder: string) => {
    newest = null;
    heldBytes -= loaded.get(folder)?.cost ?? 0;
    loaded.delete(folder);
    changed.delete(folder);
  };

  const fresh = (id: ObjectId | null): Loaded => {
    const node = treeNode(id === null ? Buffer.alloc(0) : readTree(id));
    const base = id === null ? null : { id, length: node.length };
    return { node, id, base, cost: costOf(node) };
  };

  /** A folder above is always used later than those below it, so that it is never dropped before them. */
  const use = (folder: string) => {
    if (folder === newest) return;
    newest = folder;
    for (let at = folder; ; at = folderOf(at)) {
      const one = loaded.get(at);
      if (one === undefined) throw new Error("a folder is loaded without the folder above it");
      loaded.delete(at);
      loaded.set(at, one);
      if (at === "") return;
    }
  };

  /** A folder's tree, or the component in the way, or null when it is absent. */
  const folderAt = (folder: string): Loaded | { readonly blocked: string } | null => {
    const known = loaded.get(folder);
    if (known !== undefined) {
      use(folder);
      return known;
    }
    let id = root;
    if (folder !== "") {
      const parent = folderAt(folderOf(folder));
      if (parent === null || "blocked" in parent) return parent;
      const entry = parent.node.get(nameOf(folder));
      if (entry === null) return null;
      if (!isFolder(entry.mode)) return { blocked: folder };
      id = entry.id;
    }
    const made = fresh(id);
    keep(folder, made);
    use(folder);
    return made;
  };

  const split = (path: string) => ({ folder: folderOf(path), name: nameOf(path) });

  const entryAt = (path: string): TreeEntry | null => {
    const { folder, name } = split(path);
    const found = folderAt(folder);
    return found === null || "blocked" in found ? null : found.node.get(name);
  };

  /** Mark a folder and everything above it as changed. */
  const touch = (folder: string) => {
    for (let at = folder; ; at = folderOf(at)) {
      const one = loaded.get(at);
      if (one !== undefined) one.id = null;
      changed.add(at);
      if (at === "") return;
    }
  };

  const demand = (folder: string): Loaded => {
    const found = folderAt(folder);
    if (found !== null && "blocked" in found) throw refuse(found.blocked, "it is no folder");
    if (found !== null) return found;
    const parent = demand(folderOf(folder));
    const made = fresh(null);
    keep(folder, made);
    use(folder);
    // The id is filled in by write; until then the entry only holds the place.
    parent.node.put(nameOf(folder), { mode: FOLDER, id: "0".repeat(40) });
    return made;
  };

  const apply = (path: string, entry: TreeEntry | null) => {
    const { folder, name } = split(path);
    if (entry !== null) {
      demand(folder).node.put(name, entry);
      touch(folder);
      return;
    }
    const found = folderAt(folder);
    if (found === null || "blocked" in found) return;
    found.node.remove(name);
    touch(folder);
    if (found.node.count > 0 || folder === "") return;
    drop(folder);
    apply(folder, null);
  };

  const trim = () => {
    for (const folder of loaded.keys()) {
      if (heldBytes <= maxBytes) return;
      drop(folder);
    }
  };

  return {
    start(next) {
      undo = [];
      const current = loaded.get("");
      if (next !== null && next === current?.id) return;
      const old = [...loaded].sort(([a], [b]) => (a < b ? -1 : 1));
      loaded.clear();
      newest = null;
      changed.clear();
      heldBytes = 0;
      root = next;
      // From the top down: what the new tree names by the same id is taken over, else read.
      for (const [folder, one] of old) {
        const id = folder === "" ? root : namedIn(loaded, folder);
        if (id !== null) keep(folder, id === one.id ? one : fresh(id));
      }
      for (const [folder] of old.reverse()) if (loaded.has(folder)) use(folder);
    },
    blobAt(path) {
      const entry = entryAt(raw(path));
      // A regular file's entry is a blob.
      return entry !== null && isRegular(entry) ? (entry.id as BlobId) : null;
    },
    isExecutable: (path) => entryAt(raw(path))?.mode === "100755",
    list(folder) {
      const found = folderAt(raw(folder));
      if (found === null || "blocked" in found) return [];
      return found.node
        .entries()
        .map((entry) => ({ ...entry, name: Buffer.from(entry.name, "latin1").toString("utf8") }));
    },
    set(path, blob, executable = false) {
      const key = raw(path);
      const before = entryAt(key);
      if (before !== null && !isRegular(before)) {
        const what = isFolder(before.mode) ? "a folder" : "a link or submodule";
        throw refuse(key, `${what} stands there`);
      }
      if (blob === null && before === null) return;
      apply(
        key,
        blob === null ? null : { mode: before?.mode ?? (executable ? "100755" : "100644"), id: blob },
      );
      undo.push({ path: key, before });
    },
    entryAt(path) {
      const entry = entryAt(raw(path));
      return entry === null || isFolder(entry.mode) ? null : toEntry(path, entry);
    },
    put(path, entry) {
      const key = raw(path);
      const before = entryAt(key);
      if (before !== null && isFolder(before.mode)) throw refuse(key, "a folder stands there");
      if (entry === null && before === null) return;
      apply(key, entry);
      undo.push({ path: key, before });
    },
    rollback() {
      for (const { path, before } of undo.reverse()) apply(path, before);
      undo = [];
    },
    write(emit) {
      undo = [];
      demand("");
      if (root === null) touch("");
      for (const folder of [...changed].sort(deepestFirst)) {
        const one = loaded.get(folder);
        if (one === undefined) throw new Error("a changed folder was dropped");
        const bytes = one.node.bytes();
        const id = hashObject("tree", bytes);
        if (id !== one.base?.id) emit({ folder, id, bytes, ...editOf(one) });
        one.node.markWritten();
        one.id = id;
        one.base = { id, length: bytes.length };
        heldBytes += costOf(one.node) - one.cost;
        one.cost = costOf(one.node);
        if (folder === "") root = id;
        else loaded.get(folderOf(folder))?.node.put(split(folder).name, { mode: FOLDER, id });
      }
      changed.clear();
      trim();
      if (root === null) throw new Error("the root tree was not written");
      return root;
    },
  };
}

function editOf({ node, base }: Loaded): Pick<WrittenTree, "edit"> {
  return base === null ? {} : { edit: { base: base.id, baseLength: base.length, ...node.edit() } };
}

/** The id that a folder's loaded parent names for it. */
function namedIn(loaded: ReadonlyMap<string, Loaded>, folder: string): ObjectId | null {
  const entry = loaded.get(folderOf(folder))?.node.get(nameOf(folder)) ?? null;
  return entry !== null && isFolder(entry.mode) ? entry.id : null;
}
