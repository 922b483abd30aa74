/**
 * From drafts to commits in memory: each on the tree the one before left, starting at the branch's tip and
 * never at the Git index, so that nothing a person staged rides along. Drafts that don't fit drop out alone.
 * Nothing is written here; the objects wait in a pack builder.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { byBytes } from "../../lib/byte-order.ts";
import type { EntryChange } from "../advance.ts";
import { diskBlob, isExecutable, type Look } from "../files/disk-look.ts";
import type { MovedFolder, MovedFolders } from "../git-index/cache-tree.ts";
import type { Draft, DraftOutcome, FileWish, TreeChange } from "../note-store.ts";
import { blobId, commitId, type ObjectId, type ObjectType } from "../objects/object-id.ts";
import { type PackBuilder, packBuilder } from "../objects/pack-bytes.ts";
import type { TreeChain } from "../trees/trees.ts";
import { buildCommit } from "./commit-build.ts";

export type Refusal = Exclude<DraftOutcome, { kind: "committed" }>;

/** A path that the chain changed: from the tip's blob to the last one. */
export interface ChangedPath {
  readonly before: BlobId | null;
  readonly after: BlobId | null;
  readonly bytes: Uint8Array | null;
  /** A person saved `after` already, so that is what their file is believed to hold. */
  readonly held: boolean;
  /** The tip holds it as 100755. */
  readonly executable: boolean;
  /** A link stands there yet: the file is placed after the locks, as one that could not be placed. */
  readonly later?: boolean;
  /** What the Git index holds there; absent: `before`. */
  readonly indexed?: string | null;
  /** The permission that the file must come to have; absent, null: as it is. */
  readonly remode?: "executable" | "plain" | null;
  /** A person's edit lies there and waits: the file stays, and so does its base. */
  readonly left?: boolean;
}

export interface BuiltCommit {
  readonly kind: "built";
  readonly draft: Draft;
  readonly id: CommitId;
  readonly raw: Uint8Array;
  readonly tree: ObjectId;
  readonly parents: readonly CommitId[];
  /** Paths that differ from the parent, by path bytes. */
  readonly changes: readonly TreeChange[];
}

interface BuiltObject {
  readonly type: ObjectType;
  readonly id: ObjectId;
  readonly bytes: Uint8Array;
}

export interface Chain {
  readonly base: CommitId | null;
  /** Equals `base` when every draft dropped out. */
  readonly tip: CommitId | null;
  /** One for each draft. */
  readonly results: readonly (BuiltCommit | Refusal)[];
  readonly commits: readonly BuiltCommit[];
  readonly changed: ReadonlyMap<RepoPath, ChangedPath>;
  /** Every folder whose tree was written: what it was in the base, and what it is in the tip unless it is gone. */
  readonly folders: MovedFolders;
  /** What was seen at each path that a draft named; the check under the locks compares with it. */
  readonly looks: ReadonlyMap<RepoPath, Look>;
  readonly pack: PackBuilder;
  readonly objects: readonly BuiltObject[];
  /** A move to one commit that no draft made, as the reflog tells it. */
  readonly move?: { readonly atMs: number; readonly message: string };
  /** Links and submodules that change along, and what the Git index holds there. */
  readonly links?: readonly (EntryChange & { readonly indexed: string | null })[];
}

/** What a chain is built on. */
export interface Ground {
  readonly base: CommitId | null;
  /** The tip's tree; null on an unborn branch. */
  readonly tree: ObjectId | null;
  /** HEAD is at another branch: files are not looked at, and what a person saved can't be adopted. */
  readonly elsewhere: boolean;
  /** `core.fileMode`: a new file that a person made executable is committed so. */
  readonly fileModes: boolean;
  readonly trees: TreeChain;
  readonly proofKey: Uint8Array;
  look(path: RepoPath): Look;
  /** The base table's word for a working file. */
  believed(path: RepoPath): BlobId | null;
}

/**
 * Build a chain.
 *
 * @throws NotesError INVALID_PARAMS an author or message that Git's format can't hold; nothing was written
 * @cost follows the folders touched; one look a path
 */
export function buildChain(drafts: readonly Draft[], ground: Ground): Chain {
  const { trees } = ground;
  const pack = packBuilder();
  const objects: BuiltObject[] = [];
  const changed = new Map<RepoPath, ChangedPath>();
  const folders = new Map<string, MovedFolder>();
  const looks = new Map<RepoPath, Look>();
  const results: (BuiltCommit | Refusal)[] = [];
  const commits: BuiltCommit[] = [];
  const ids = new Map<Uint8Array, BlobId>();
  let tip = ground.base;
  trees.start(ground.tree);
  for (const draft of drafts) {
    const result = conflictOf(draft) ?? dirtyOf(draft) ?? add(draft);
    if (result.kind !== "built") trees.rollback();
    results.push(result);
    if (result.kind !== "built") continue;
    tip = result.id;
    commits.push(result);
  }
  return { base: ground.base, tip, results, commits, changed, folders, looks, pack, objects };

  /** The id of a file's new bytes, computed once. */
  function idOf(bytes: Uint8Array): BlobId {
    const id = ids.get(bytes) ?? blobId(bytes);
    ids.set(bytes, id);
    return id;
  }
  function afterOf({ bytes }: FileWish): BlobId | null {
    return bytes === null ? null : idOf(bytes);
  }

  /** Patch the tree; what doesn't fit is rolled back by the caller. */
  function conflictOf({ files }: Draft): Refusal | null {
    for (const { path, expected } of files) {
      const current = trees.blobAt(path);
      if (current !== expected) return { kind: "conflict", path, current };
    }
    // What goes makes room: a folder may come where a file was, and a file where a folder was.
    const removedFirst = [...files].sort((a, b) => Number(a.bytes !== null) - Number(b.bytes !== null));
    for (const wish of removedFirst) {
      const { path, bytes } = wish;
      try {
        trees.set(path, afterOf(wish), bytes !== null && heldExecutable(path, bytes));
      } catch (error) {
        // A folder stands at the path, or a file in its way.
        if (error instanceof NotesError && error.code === "CONFLICT")
          return {
            kind: "blocked",
            path,
            why: "lies where the branch has a file, a link or a submodule in place of a folder, or a folder in place of the file",
          };
        throw error;
      }
    }
    return null;
  }

  /** The working file holds these bytes already, and is executable. */
  function heldExecutable(path: RepoPath, bytes: Uint8Array): boolean {
    if (!ground.fileModes || ground.elsewhere) return false;
    const seen = looks.get(path) ?? ground.look(path);
    looks.set(path, seen);
    return isExecutable(seen) && diskBlob(seen) === idOf(bytes);
  }

  /** Each working file must hold what is believed of it, or already what this draft wants. */
  function dirtyOf({ files, origin }: Draft): Refusal | null {
    if (ground.elsewhere && origin === "door") return null;
    const dirty = files.filter((wish) => {
      const { path, onDisk } = wish;
      if (ground.elsewhere) return true;
      const seen = looks.get(path) ?? ground.look(path);
      looks.set(path, seen);
      const disk = diskBlob(seen);
      if (disk === undefined) return true;
      if (disk === afterOf(wish)) return false;
      if (origin === "disk") return true;
      const before = changed.get(path);
      const believed = before?.held === true ? before.after : ground.believed(path);
      return disk !== (onDisk === undefined ? believed : onDisk);
    });
    for (const { path } of origin === "door" ? dirty : []) {
      const seen = looks.get(path);
      if (seen?.kind === "unfit") return { kind: "blocked", path, why: seen.reason };
    }
    return dirty.length > 0 ? { kind: "dirty", paths: dirty.map((f) => f.path) } : null;
  }

  function put(type: ObjectType, id: ObjectId, bytes: Uint8Array): void {
    if (!pack.has(id)) objects.push({ type, id, bytes });
    pack.add(type, id, bytes);
  }

  function add(draft: Draft): BuiltCommit {
    const changes: TreeChange[] = [];
    for (const wish of draft.files) {
      const { path, expected } = wish;
      const after = afterOf(wish);
      if (after !== expected) changes.push({ path, before: expected, after });
    }
    for (const { bytes } of draft.files) if (bytes !== null) put("blob", idOf(bytes), bytes);
    const tree = trees.write(({ folder, id, bytes, edit }) => {
      const before = folders.has(folder) ? (folders.get(folder)?.before ?? null) : (edit?.base ?? null);
      folders.set(folder, { before, after: id });
      if (!pack.has(id)) objects.push({ type: "tree", id, bytes });
      pack.add("tree", id, bytes, edit);
    });
    const parents = [...(tip === null ? [] : [tip]), ...(draft.mergeParents ?? [])];
    const raw = buildCommit(draft, tree, parents, ground.proofKey);
    const id = commitId(raw);
    put("commit", id, raw);
    for (const wish of draft.files) {
      const { path, expected, bytes } = wish;
      const before = changed.has(path) ? (changed.get(path)?.before ?? null) : expected;
      const after = afterOf(wish);
      const executable = after !== null && trees.isExecutable(path);
      changed.set(path, { before, after, bytes, held: draft.origin === "disk", executable });
    }
    changes.sort((a, b) => byBytes(a.path, b.path));
    return { kind: "built", draft, id, raw, tree, parents, changes };
  }
}
