/** A whole note as a purge takes it: every content that it had under its id, or at the paths where it lay. */
import { NotesError } from "../../domain/errors.ts";
import { fileId } from "../../domain/identity.ts";
import type { CommitId } from "../../domain/note.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import { isNotePath } from "../../domain/note-path.ts";
import { parseHeader } from "../../store/history/commit-header.ts";
import { type GitObjects, gitObjects } from "../../store/objects/objects.ts";
import { everyObject } from "../../store/purge/every-object.ts";
import { isFolder, treeNode } from "../../store/trees/tree-node.ts";
import type { PurgedNote } from "./purge-rules.ts";

const NO_TYPES: ReadonlySet<string> = new Set();

/**
 * @param note id or path
 * @throws NotesError NOT_FOUND no version of it is here
 * @cost reads every object once
 */
export function noteToPurge(gitdir: string, note: string, roots: readonly string[]): PurgedNote {
  const objects = gitObjects(gitdir);
  try {
    const isPath = isNotePath(note, roots);
    const ids = new Set<string>(isPath ? [fileId(note, () => false)] : [note]);
    const named = new Set<string>();
    const trees = new Set<string>();
    for (const id of everyObject(gitdir)) {
      const found = objects.find(id);
      // As its own id: 40 hex digits of a commit.
      if (found?.type === "commit") trees.add(parseHeader(id as CommitId, found.bytes).tree);
      else if (found?.type === "blob" && !isPath && idIn(found.bytes) === note) named.add(id);
    }
    const paths = isPath ? new Set<string>([note]) : pathsOf(objects, trees, named, note, roots);
    const blobs = new Set([...named, ...contentsAt(objects, trees, paths)]);
    if (blobs.size === 0)
      throw new NotesError("NOT_FOUND", `No version of the note ${note} is here. Give its id or its path.`);
    for (const blob of blobs) {
      const id = idIn(objects.find(blob)?.bytes ?? Buffer.alloc(0));
      if (id !== null) ids.add(id);
    }
    return { ids, blobs };
  } finally {
    objects.close();
  }
}

const ID_LINE = Buffer.from("id:");

function idIn(bytes: Buffer): string | null {
  if (!bytes.includes(ID_LINE)) return null;
  const read = readNoteFile("note.md", bytes, NO_TYPES);
  return read.kind === "note" ? read.fields.id : null;
}

/** Where contents lay, and files whose path alone is the id. */
function pathsOf(
  objects: GitObjects,
  trees: ReadonlySet<string>,
  blobs: ReadonlySet<string>,
  note: string,
  roots: readonly string[],
): Set<string> {
  const paths = new Set<string>();
  const seen = new Set<string>();
  const byPath = note.startsWith("f_");
  const walk = (id: string, folder: string) => {
    if (seen.has(`${id} ${folder}`)) return;
    seen.add(`${id} ${folder}`);
    for (const { name, mode, id: child } of treeNode(objects.find(id)?.bytes ?? Buffer.alloc(0)).entries()) {
      const path = folder + Buffer.from(name, "latin1").toString("utf8");
      if (isFolder(mode)) walk(child, `${path}/`);
      else if (blobs.has(child)) paths.add(path);
      else if (byPath && isNotePath(path, roots) && fileId(path, () => false) === note) paths.add(path);
    }
  };
  for (const tree of trees) walk(tree, "");
  return paths;
}

/** Every content that ever stood at these paths. */
function contentsAt(
  objects: GitObjects,
  trees: ReadonlySet<string>,
  paths: ReadonlySet<string>,
): Set<string> {
  const found = new Set<string>();
  const known = new Map<string, string | null>();
  const entry = (tree: string, name: string): string | null => {
    const key = `${tree} ${name}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const bytes = objects.find(tree);
    const id = bytes?.type === "tree" ? (treeNode(bytes.bytes).get(name)?.id ?? null) : null;
    known.set(key, id);
    return id;
  };
  for (const path of paths) {
    const segments = path.split("/").map((segment) => Buffer.from(segment).toString("latin1"));
    for (const tree of trees) {
      const id = segments.reduce<string | null>((at, name) => (at === null ? null : entry(at, name)), tree);
      if (id !== null && objects.find(id)?.type === "blob") found.add(id);
    }
  }
  return found;
}
