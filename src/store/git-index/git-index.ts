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
import type { TreeFile } from "../note-store.ts";
import type { MovedFolders } from "./cache-tree.ts";
import { emptyIndex, type ParsedIndex, parseIndex } from "./index-bytes.ts";
import { editIndex, type IndexEdit } from "./index-edit.ts";
import { compareName, entryAt, type IndexEntry, lowerBound } from "./index-entries.ts";

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
  /** Entries of a path: none, one of stage 0, or up to three of a conflict. @cost a binary search */
  at(path: RepoPath): IndexEntry[];
  entries(): IterableIterator<IndexEntry>;
  /**
   * An index with these changes; this one stays as it is.
   * @param edits one a path; together they make a tree (no addition stands where another needs a folder)
   * @param moved the folders of the chain that the edits follow, for the cache-tree; then the edits are all that
   *   the chain changed. Without it the folders that change are marked invalid
   * @cost one copy and one SHA-1 of the file: 10 ms at 100,000 entries
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
 * @throws NotesError STORAGE damaged, version 4, split, sparse or with an unknown required extension
 */
export function gitIndex(bytes: Buffer): GitIndex {
  return over(parseIndex(bytes));
}

function over(parsed: ParsedIndex): GitIndex {
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
    edit(edits, moved = new Map()) {
      const { parsed: edited, left } = editIndex(parsed, edits, moved);
      return { index: over(edited), bytes: edited.bytes, left };
    },
  };
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
