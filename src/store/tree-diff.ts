/**
 * What differs between two trees, and what one tree holds: walks over Git tree objects, in path-byte order.
 * Equal subtrees are skipped unread. Only regular files count; a symlink or a submodule is as if absent.
 * Names that are no UTF-8 are skipped: no note path can name them.
 */
import type { BlobId, RepoPath } from "../domain/note.ts";
import type { TreeChange, TreeFile } from "./note-store.ts";

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

/** Parse a tree object into its entries, in Git's order. Names that are no UTF-8 are left out. */
export function parseTree(content: Uint8Array): Entry[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, space);
    const mode = bytes.toString("latin1", at, space);
    const raw = bytes.toString("latin1", space + 1, nul);
    const ascii = !/[^\0-\x7f]/.test(raw);
    const name = ascii ? raw : bytes.toString("utf8", space + 1, nul);
    const kind = mode === "40000" ? "folder" : mode.startsWith("100") ? "file" : "other";
    if (ascii || Buffer.from(name).toString("latin1") === raw) {
      entries.push({
        key: kind === "folder" ? `${raw}/` : raw,
        name,
        kind,
        id: bytes.toString("hex", nul + 1, nul + 21),
      });
    }
    at = nul + 21;
  }
  return entries;
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
    const left = a === null ? [] : parseTree(await read(a));
    const right = b === null ? [] : parseTree(await read(b));
    for (let i = 0, j = 0; i < left.length || j < right.length; ) {
      const l = left[i];
      const r = right[j];
      const takeLeft = l !== undefined && (r === undefined || l.key <= r.key);
      const takeRight = r !== undefined && (l === undefined || r.key <= l.key);
      if (takeLeft) i++;
      if (takeRight) j++;
      const old = takeLeft ? l : undefined;
      const now = takeRight ? r : undefined;
      if (old?.id === now?.id && old?.kind === now?.kind) continue;
      await compare(folder, old, now);
    }
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
