/**
 * The Git index after a purge: every entry as it was, but for contents and paths that were rewritten. It is written whole
 * and without extensions, since those name trees and contents of the old history; Git makes them again.
 */

import { readIndex } from "../git-index/git-index.ts";
import { changedEntry, headerBytes, renamedEntry, withChecksum } from "../git-index/index-bytes.ts";
import { entryAt, nameOf, walk } from "../git-index/index-image.ts";
import { readShared } from "../git-index/shared-index.ts";
import type { ObjectId } from "../objects/object-id.ts";

export interface IndexWish {
  /** Old content to new one; null: the entry goes. */
  readonly blobs: ReadonlyMap<ObjectId, ObjectId | null>;
  /** UTF-8 paths that change. */
  readonly paths: ReadonlyMap<string, string>;
  /** Entries that go though their content stays: `path\0id`. */
  readonly gone: ReadonlySet<string>;
}

/** Contents and paths of the index, those of conflicts too. @throws NotesError STORAGE damaged */
export function indexFiles(gitdir: string): { readonly path: string; readonly blob: ObjectId }[] {
  const { index, signature } = readIndex(gitdir, (name) => readShared(gitdir, name));
  if (signature === "absent") return [];
  return [...index.entries()].map(({ path, id }) => ({ path, blob: id }));
}

/** @returns null: there is no index @throws NotesError STORAGE damaged */
export function rewrittenIndex(gitdir: string, { blobs, paths, gone }: IndexWish): Buffer | null {
  const { index, signature } = readIndex(gitdir, (name) => readShared(gitdir, name));
  if (signature === "absent") return null;
  const entries = new Map<string, Buffer>();
  for (const raw of walk(index.image)) {
    const { path, id, stage } = entryAt(raw);
    const to = blobs.get(id);
    if (to === null || gone.has(`${path}\0${id}`)) continue;
    const renamed = paths.get(path);
    const name = renamed === undefined ? nameOf(raw) : Buffer.from(renamed);
    const own = renamedEntry(raw.bytes.subarray(raw.start), name);
    // By name, then by stage; a name of another file is not taken.
    const key = `${name.toString("latin1")}\0${stage}`;
    if (!entries.has(key)) entries.set(key, to === undefined ? own : changedEntry(own, to, null));
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  return withChecksum([headerBytes(index.image.version, sorted.length), ...sorted]);
}
