/**
 * Conflicts that a merge kept: each a commit under `refs/notesd/conflicts/`. Its tree holds base, ours and theirs where
 * there is one, and note.json. A resolved one is a further commit of `refs/notesd/backup/conflicts`.
 * Invariant: the other side's bytes stay reachable. These refs are local and never travel.
 */
import { createHash } from "node:crypto";
import { COMMITTER } from "../domain/commit-message.ts";
import { NotesError } from "../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../domain/note.ts";
import { parseHeader } from "./history/commit-header.ts";
import type { KeptConflict } from "./note-store.ts";
import { blobId, commitId, hashObject } from "./objects/object-id.ts";
import type { GitObjects } from "./objects/objects.ts";
import { packBuilder } from "./objects/pack-bytes.ts";
import { writePack } from "./objects/pack-writer.ts";
import type { GitLocks } from "./refs/git-lock.ts";
import { deleteLocalRef, writeLocalRef } from "./refs/local-refs.ts";
import { listRefs, readRef } from "./refs/refs.ts";
import { parseTree } from "./trees/tree-diff.ts";

const FOLDER = "refs/notesd/conflicts";
/** One ref for all: each commit has the tree of a conflict, its parent is the one resolved before it. */
const RESOLVED = "refs/notesd/backup/conflicts";

interface Conflicts {
  /** @returns false: it was kept already @throws NotesError INVALID_PARAMS `bytes` are not `theirs`; STORAGE */
  keep(conflict: KeptConflict, bytes?: Uint8Array): Promise<boolean>;
  /** Of a merge that did not happen: nothing was resolved, so nothing goes to `RESOLVED`. */
  forget(conflict: Pick<KeptConflict, "note_id" | "theirs">): Promise<void>;
  list(): KeptConflict[];
  has(noteId: string): boolean;
  /** The conflicts of a note stand no more; what they kept goes to `RESOLVED`. */
  drop(noteId: string): Promise<void>;
}

const folderOf = (noteId: string) =>
  `${FOLDER}/${createHash("sha256").update(noteId).digest("hex").slice(0, 40)}`;

const nameOf = (noteId: string, theirs: BlobId) => `${folderOf(noteId)}/${theirs}`;

/** The kept conflicts of one repository. */
export function openConflicts(gitdir: string, objects: GitObjects, locks: GitLocks): Conflicts {
  function read(id: CommitId): KeptConflict {
    const { tree } = parseHeader(id, objects.read("commit", id));
    const entries = new Map(parseTree(objects.read("tree", tree)).map((e) => [e.name, e.id]));
    // These names and ids were written by `keep` or by the merge driver.
    const blob = (name: string) => (entries.get(name) ?? null) as BlobId | null;
    const note = parseNote(objects.read("blob", entries.get("note.json") ?? ""));
    const theirs = blob("theirs");
    if (note === null || theirs === null) {
      throw new NotesError("STORAGE", `The kept conflict ${id} can't be read; look at it with git show.`, {
        commit: id,
      });
    }
    return { ...note, base: blob("base"), ours: blob("ours"), theirs };
  }

  async function commit(
    wish: {
      readonly tree: string;
      readonly parent: CommitId | null;
      readonly since: string;
      readonly text: string;
    },
    pack = packBuilder(),
  ) {
    const who = `${COMMITTER.name} <${COMMITTER.email}> ${Math.floor(Date.parse(wish.since) / 1000)} +0000`;
    const parent = wish.parent === null ? "" : `parent ${wish.parent}\n`;
    const header = `tree ${wish.tree}\n${parent}author ${who}\ncommitter ${who}\n\n`;
    const bytes = Buffer.from(`${header}${wish.text}\n`);
    pack.add("commit", commitId(bytes), bytes);
    const written = await writePack(gitdir, pack.finish());
    return { id: commitId(bytes), release: written.release };
  }

  const treeAt = (id: CommitId) => parseHeader(id, objects.read("commit", id)).tree;

  /** Idempotent: a drop that was cut short is made again. */
  async function backUp(id: CommitId): Promise<void> {
    const parent = readRef(gitdir, RESOLVED);
    const tree = treeAt(id);
    if (parent !== null && treeAt(parent) === tree) return;
    const { path, since } = read(id);
    const written = await commit({ tree, parent, since, text: `resolved: ${path}` });
    try {
      await writeLocalRef({ gitdir, locks, objects }, RESOLVED, written.id);
    } finally {
      written.release();
    }
  }

  return {
    async keep(conflict, bytes) {
      const { note_id, path, since, base, ours, theirs } = conflict;
      const name = nameOf(note_id, theirs);
      if (readRef(gitdir, name) !== null) return false;
      if (bytes !== undefined && blobId(bytes) !== theirs) {
        throw new NotesError(
          "INVALID_PARAMS",
          `The bytes given are not the blob ${theirs}; give those of that side.`,
        );
      }
      const pack = packBuilder();
      if (bytes !== undefined) pack.add("blob", theirs, bytes);
      const note = Buffer.from(`${JSON.stringify({ note_id, path, since })}\n`);
      pack.add("blob", blobId(note), note);
      const tree = treeOf({ base, "note.json": blobId(note), ours, theirs });
      pack.add("tree", hashObject("tree", tree), tree);
      const text = `conflict: ${path}`;
      const written = await commit({ tree: hashObject("tree", tree), parent: null, since, text }, pack);
      try {
        await writeLocalRef({ gitdir, locks, objects }, name, written.id);
        return true;
      } finally {
        written.release();
      }
    },
    forget: ({ note_id, theirs }) => deleteLocalRef(locks, gitdir, nameOf(note_id, theirs)),
    list: () => listRefs(gitdir, FOLDER).map(({ id }) => read(id)),
    has: (noteId) => listRefs(gitdir, folderOf(noteId)).length > 0,
    async drop(noteId) {
      for (const { name, id } of listRefs(gitdir, folderOf(noteId))) {
        await backUp(id);
        await deleteLocalRef(locks, gitdir, name);
      }
    },
  };
}

/** A flat tree of regular files; names given in byte order, null ones left out. */
function treeOf(files: Readonly<Record<string, BlobId | null>>): Buffer {
  const entries = Object.entries(files).flatMap(([name, id]) =>
    id === null ? [] : [Buffer.from(`100644 ${name}\0`), Buffer.from(id, "hex")],
  );
  return Buffer.concat(entries);
}

function parseNote(bytes: Uint8Array): Pick<KeptConflict, "note_id" | "path" | "since"> | null {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
  if (typeof value !== "object" || value === null) return null;
  if (!("note_id" in value && "path" in value && "since" in value)) return null;
  const { note_id, path, since } = value;
  if (typeof note_id !== "string" || typeof path !== "string" || typeof since !== "string") return null;
  // As `keep` was given it.
  return { note_id, path: path as RepoPath, since };
}
