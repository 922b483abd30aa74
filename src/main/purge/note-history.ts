/** The commits and root trees of a repository, reachable or not, asked for files by path, content and the id in them. Reads only. */
import type { CommitId } from "../../domain/note.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import { parseHeader } from "../../store/history/commit-header.ts";
import type { GitObjects } from "../../store/objects/objects.ts";
import { everyObject } from "../../store/purge/every-object.ts";
import type { CutFile } from "../../store/purge/rewriting.ts";
import { isFolder, treeNode } from "../../store/trees/tree-node.ts";

export interface PathFile extends CutFile {
  /** UTF-8. */
  readonly path: string;
}

interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Author date, seconds since the epoch. */
  readonly authoredS: number;
}

export interface NoteHistory {
  readonly commits: ReadonlyMap<string, Commit>;
  /** Trees of commits, and those that nothing holds. */
  readonly roots: ReadonlySet<string>;
  /** Contents with this id in their front matter. */
  named(id: string): ReadonlySet<string>;
  /** The id in a content's front matter. */
  idOf(blob: string): string | null;
  text(blob: string): string;
  /** The file at a path. */
  at(root: string, path: string): PathFile | null;
  files(root: string): readonly PathFile[];
  /** Files whose content is one of these. Ask with the same set again: what was found is kept. */
  holding(root: string, blobs: ReadonlySet<string>): readonly PathFile[];
  /** Parents and children of a commit. */
  beside(commit: string): readonly string[];
}

const NO_TYPES: ReadonlySet<string> = new Set();
const ID_LINE = Buffer.from("id:");

function idIn(bytes: Buffer): string | null {
  if (!bytes.includes(ID_LINE)) return null;
  const read = readNoteFile("note.md", bytes, NO_TYPES);
  return read.kind === "note" ? read.fields.id : null;
}

/** @cost reads every object once */
export function noteHistory(objects: Pick<GitObjects, "find">, gitdir: string): NoteHistory {
  const commits = new Map<string, Commit>();
  const trees = new Set<string>();
  const children = new Set<string>();
  const ids = new Map<string, string>();
  for (const id of everyObject(gitdir)) {
    const found = objects.find(id);
    // As its own id: 40 hex digits of a commit.
    if (found?.type === "commit") commits.set(id, parseHeader(id as CommitId, found.bytes));
    else if (found?.type === "tree") {
      trees.add(id);
      for (const entry of treeNode(found.bytes).entries()) if (isFolder(entry.mode)) children.add(entry.id);
    } else if (found?.type === "blob") {
      const own = idIn(found.bytes);
      if (own !== null) ids.set(id, own);
    }
  }
  const roots = new Set([...trees].filter((tree) => !children.has(tree)));
  const near = new Map<string, string[]>();
  const join = (a: string, b: string) => near.set(a, [...(near.get(a) ?? []), b]);
  for (const [id, { tree, parents }] of commits) {
    roots.add(tree);
    for (const parent of parents) {
      join(id, parent);
      join(parent, id);
    }
  }
  const entries = treeReader(objects);
  const kept = new Map<ReadonlySet<string> | null, Map<string, readonly PathFile[]>>();

  function walk(tree: string, blobs: ReadonlySet<string> | null): readonly PathFile[] {
    const known = kept.get(blobs) ?? new Map<string, readonly PathFile[]>();
    kept.set(blobs, known);
    const before = known.get(tree);
    if (before !== undefined) return before;
    const files = [...entries(tree).values()].flatMap(({ path, mode, blob }): readonly PathFile[] => {
      if (isFolder(mode)) return walk(blob, blobs).map((one) => ({ ...one, path: `${path}/${one.path}` }));
      return mode !== "160000" && (blobs === null || blobs.has(blob)) ? [{ path, mode, blob }] : [];
    });
    known.set(tree, files);
    return files;
  }

  const sets = new Map<string, ReadonlySet<string>>();
  return {
    commits,
    roots,
    named(id) {
      const set = sets.get(id) ?? new Set([...ids].flatMap(([blob, own]) => (own === id ? [blob] : [])));
      sets.set(id, set);
      return set;
    },
    idOf: (blob) => ids.get(blob) ?? null,
    text: (blob) => objects.find(blob)?.bytes.toString("utf8") ?? "",
    at(root, path) {
      const names = path.split("/");
      const last = names.pop() ?? "";
      const folder = names.reduce<string | null>((tree, name) => {
        const found = tree === null ? undefined : entries(tree).get(name);
        return found !== undefined && isFolder(found.mode) ? found.blob : null;
      }, root);
      const file = folder === null ? undefined : entries(folder).get(last);
      return file === undefined || isFolder(file.mode) || file.mode === "160000" ? null : { ...file, path };
    },
    files: (root) => walk(root, null),
    holding: (root, blobs) => (blobs.size === 0 ? [] : walk(root, blobs)),
    beside: (commit) => near.get(commit) ?? [],
  };
}

/** Entries of a tree by UTF-8 name, each tree read once. */
export function treeReader(
  objects: Pick<GitObjects, "find">,
): (tree: string) => ReadonlyMap<string, PathFile> {
  const known = new Map<string, ReadonlyMap<string, PathFile>>();
  return (tree) => {
    const before = known.get(tree);
    if (before !== undefined) return before;
    const found = objects.find(tree);
    const entries = found?.type === "tree" ? treeNode(found.bytes).entries() : [];
    const made = new Map(
      entries.map(({ name, mode, id }) => {
        const path = Buffer.from(name, "latin1").toString("utf8");
        return [path, { path, mode, blob: id }];
      }),
    );
    known.set(tree, made);
    return made;
  };
}
