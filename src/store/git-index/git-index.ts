/**
 * Git's index, of which only our entries are ever changed; every other entry stays byte for byte. What a
 * person staged is theirs: an entry that isn't what we expected is left alone and reported.
 * Optional extensions: TREE follows the commits that we index, REUC is kept, caches that our change would make
 * wrong (UNTR, FSMN, EOIE, IEOT) are left out as Git leaves out those it doesn't know.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import { slicer } from "../../lib/slicer.ts";
import type { TreeFile } from "../note-store.ts";
import type { MovedFolders } from "./cache-tree.ts";
import { emptyIndex, parseIndex, refuse } from "./index-bytes.ts";
import { editImage, type IndexEdit } from "./index-edit.ts";
import {
  countOf,
  type EntryRun,
  entryAt,
  foldersOf,
  type IndexEntry,
  type IndexImage,
  standing,
  walk,
} from "./index-image.ts";
import { joinSplit, sharedName, splitBytes } from "./split-index.ts";
import { wholeIndex } from "./whole-index.ts";

export type { IndexEdit };

interface EditedIndex {
  /** The index as edited, so that its bytes need not be read and taken apart again. */
  readonly index: GitIndex;
  readonly bytes: Buffer;
  /** Paths that hold what a person staged, or are in conflict; unchanged. */
  readonly left: readonly RepoPath[];
}

export interface GitIndex {
  readonly count: number;
  readonly image: IndexImage;
  /** Entries of a path: none, one of stage 0, or up to three of a conflict. @cost a binary search */
  at(path: RepoPath): IndexEntry[];
  entries(): IterableIterator<IndexEntry>;
  /** Folders that hold an entry whose name ends so, "" the root. @cost a look at each entry's name */
  folders(ending: string): Set<string>;
  /**
   * An index with these changes; this one stays as it is.
   * @param edits one a path; together they make a tree (no addition stands where another needs a folder)
   * @param moved the folders of the chain that the edits follow, for the cache-tree; then the edits are all that
   *   the chain changed. Without it the folders that change are marked invalid
   * @cost on a shared index it follows what changed since that; else one copy and one SHA-1 of the file, 10 ms at
   *   100,000 entries
   */
  edit(edits: readonly IndexEdit[], moved?: MovedFolders): EditedIndex;
}

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

/** Reads the run of entries that a shared index is. @throws NotesError STORAGE missing or damaged */
export type OpenShared = (name: string) => EntryRun;

/**
 * The index as it stands; one without entries when there is no file.
 * @param openShared absent where split indexes are not allowed
 * @throws NotesError STORAGE as `gitIndex`
 */
export function readIndex(
  gitdir: string,
  openShared?: OpenShared,
): { readonly index: GitIndex; readonly signature: string } {
  for (;;) {
    const signature = indexSignature(gitdir);
    const bytes = orAbsent(() => readFileSync(join(gitdir, "index")));
    // Read again when Git renamed a new one into place in between.
    if (indexSignature(gitdir) !== signature) continue;
    try {
      return { index: gitIndex(bytes ?? emptyIndex(), openShared), signature };
    } catch (error) {
      // The shared index may have gone with the index that named it.
      if (indexSignature(gitdir) === signature) throw error;
    }
  }
}

/**
 * An index over its bytes.
 * @throws NotesError STORAGE damaged, version 4, split where that isn't allowed, sparse or with an unknown required extension
 */
export function gitIndex(bytes: Buffer, openShared?: OpenShared): GitIndex {
  const parsed = parseIndex(bytes);
  const name = sharedName(parsed);
  const { version, starts, tree, resolveUndo } = parsed;
  if (name === null)
    return over({ version, run: { bytes, starts, version }, shared: null, changes: [], tree, resolveUndo });
  if (openShared === undefined)
    throw refuse("is split. Run git update-index --no-split-index, and set core.splitIndex to false");
  return over(joinSplit(parsed, name, openShared(name)));
}

/** An index over its image. */
export function over(image: IndexImage): GitIndex {
  const self: GitIndex = {
    count: countOf(image),
    image,
    at: (path) => standing(image, Buffer.from(path)).entries.map((bytes) => entryAt({ bytes, start: 0 })),
    *entries() {
      for (const raw of walk(image)) yield entryAt(raw);
    },
    folders: (ending) => foldersOf(image, Buffer.from(ending)),
    edit(edits, moved = new Map()) {
      const { image: edited, left } = editImage(image, edits, moved);
      if (edited.shared !== null)
        return { index: over(edited), bytes: splitBytes(edited, edited.shared), left };
      if (edited === image) return { index: self, bytes: image.run.bytes, left };
      const whole = wholeIndex(edited);
      return { index: over(whole.image), bytes: whole.bytes, left };
    },
  };
  return self;
}

/**
 * Paths that a person has staged: the index differs from the tip in content, presence or by a conflict.
 * @param tip files of the tip that are looked at, in order of path bytes
 * @param isWatched which index entries to compare, e.g. notes
 * @cost one step for each entry and file; the loop has its turns meanwhile
 */
export async function stagedPaths(
  index: GitIndex,
  tip: readonly TreeFile[],
  isWatched: (path: RepoPath) => boolean,
): Promise<Set<RepoPath>> {
  const staged = new Set<RepoPath>();
  const missing = new Map<RepoPath, TreeFile["blob"]>();
  const turn = slicer();
  for (const { path, blob } of tip) {
    missing.set(path, blob);
    const pause = turn();
    if (pause) await pause;
  }
  for (const entry of index.entries()) {
    const pause = turn();
    if (pause) await pause;
    const blob = missing.get(entry.path);
    if (blob === undefined && !isWatched(entry.path)) continue;
    missing.delete(entry.path);
    if (entry.intentToAdd ? blob !== undefined : entry.stage > 0 || entry.id !== blob) staged.add(entry.path);
  }
  for (const path of missing.keys()) staged.add(path);
  return staged;
}
