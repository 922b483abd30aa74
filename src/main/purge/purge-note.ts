/**
 * A whole note as a purge takes it: at each commit the one file that was the note then. A text that other files hold too
 * stays with them.
 * Invariant: a file with another id, or at another path than the note's, is another note and stays.
 */
import { NotesError } from "../../domain/errors.ts";
import { fileId } from "../../domain/identity.ts";
import type { RepoPath } from "../../domain/note.ts";
import { isNotePath } from "../../domain/note-path.ts";
import { gitObjects } from "../../store/objects/objects.ts";
import { headTree } from "../../store/purge/purge.ts";
import { indexFiles } from "../../store/purge/rewrite-index.ts";
import { type NoteHistory, noteHistory, type PathFile } from "./note-history.ts";
import { whatStays } from "./note-shares.ts";
import type { PurgedNote } from "./purge-rules.ts";

const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

type Cuts = Map<string, Map<string, PathFile>>;

/**
 * @param note id or path; a path means the note that lies there now, or the only one that ever did
 * @throws NotesError NOT_FOUND no version of it is here, INVALID_PARAMS several notes lay at the path
 * @cost reads every object once, and each root tree's files on the way to the note
 */
export function noteToPurge(gitdir: string, note: string, roots: readonly string[]): PurgedNote {
  const objects = gitObjects(gitdir);
  try {
    const head = headTree(gitdir, objects);
    const history = noteHistory(objects, gitdir);
    const id = isNotePath(note, roots) ? idAt(history, note, head) : note;
    const { cuts, owned } = id.startsWith("f_")
      ? cutsByPath(history, id, roots)
      : cutsById(history, id, roots);
    cutConflicts(history, id, cuts);
    const named = history.named(id);
    const blobs = new Set(named);
    for (const files of cuts.values()) for (const { blob } of files.values()) blobs.add(blob);
    if (blobs.size === 0)
      throw new NotesError("NOT_FOUND", `No version of the note ${note} is here. Give its id or its path.`);
    const staged = indexFiles(gitdir).filter(
      ({ path, blob }) => blobs.has(blob) && !owned.has(path) && !cuts.get(head ?? "")?.has(path),
    );
    const stays = whatStays(objects, history.roots, cuts, blobs);
    for (const { blob } of staged) stays.blobs.add(blob);
    return {
      ids: new Set([id, ...(id.startsWith("f_") ? [] : [...owned].map((path) => idOfPath(path)))]),
      cuts,
      blobs: new Set([...blobs].filter((blob) => !stays.blobs.has(blob) && blob !== EMPTY_BLOB)),
      trees: new Set([...stays.cutTrees].filter((tree) => !stays.trees.has(tree))),
      owns: (path, blob) => {
        const own = history.idOf(blob);
        return owned.has(path) && (own === null || own === id);
      },
      shared: [...new Set([...stays.paths, ...staged.map(({ path }) => path)])].sort(),
    };
  } finally {
    objects.close();
  }
}

// Any path of a tree has one.
const idOfPath = (path: string): string => fileId(path as RepoPath, () => false);

/** The note that a path means. */
function idAt(history: NoteHistory, path: string, head: string | null): string {
  const own = (blob: string) => history.idOf(blob) ?? idOfPath(path);
  const now = head === null ? null : history.at(head, path);
  if (now !== null) return own(now.blob);
  const ids = new Set<string>();
  for (const root of history.roots) {
    const file = history.at(root, path);
    if (file !== null) ids.add(own(file.blob));
  }
  const [only] = ids;
  if (only === undefined || ids.size === 1) return only ?? idOfPath(path);
  throw new NotesError(
    "INVALID_PARAMS",
    `Several notes lay at ${path}: ${[...ids].join(", ")}. Give the id of the one that is to go; nothing was changed.`,
  );
}

/** A note whose path is its id: every content there that names no other one. */
function cutsByPath(history: NoteHistory, id: string, roots: readonly string[]) {
  const cuts: Cuts = new Map();
  const owned = new Set<string>();
  for (const root of history.roots)
    for (const file of history.files(root)) {
      if (!isNotePath(file.path, roots) || idOfPath(file.path) !== id) continue;
      const own = history.idOf(file.blob);
      if (own !== null && own !== id) continue;
      owned.add(file.path);
      add(cuts, root, file);
    }
  return { cuts, owned };
}

function add(cuts: Cuts, root: string, file: PathFile): void {
  const files = cuts.get(root) ?? new Map<string, PathFile>();
  cuts.set(root, files.set(file.path, file));
}

/** Of several files with the id the first that had it is the note, as for those who serve them. */
function cutsById(history: NoteHistory, id: string, roots: readonly string[]) {
  const cuts: Cuts = new Map();
  const named = history.named(id);
  const firstS = new Map<string, number>();
  for (const { tree, authoredS } of history.commits.values())
    for (const { path } of history.holding(tree, named))
      firstS.set(path, Math.min(firstS.get(path) ?? Number.POSITIVE_INFINITY, authoredS));
  const rank = ({ path }: PathFile) => [isNotePath(path, roots) ? 0 : 1, firstS.get(path) ?? 0] as const;
  const earlier = (a: PathFile, b: PathFile) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || x[1] - y[1] || (a.path < b.path ? -1 : 1);
  };
  const owned = new Set<string>();
  for (const root of history.roots) {
    const [first] = [...history.holding(root, named)].sort(earlier);
    if (first === undefined) continue;
    owned.add(first.path);
    add(cuts, root, first);
  }
  for (const path of owned) for (const [root, file] of unnamedAt(history, path, cuts)) add(cuts, root, file);
  return { cuts, owned };
}

/** Versions without any id that were followed or preceded, at the same path, by one with the note's. */
function unnamedAt(history: NoteHistory, path: string, cuts: Cuts): Map<string, PathFile> {
  const found = new Map<string, PathFile>();
  const unnamed = (root: string): PathFile | null => {
    if (cuts.has(root)) return null;
    const file = history.at(root, path);
    return file !== null && history.idOf(file.blob) === null ? file : null;
  };
  const waiting: string[] = [];
  for (const [commit, { tree }] of history.commits) if (cuts.get(tree)?.has(path)) waiting.push(commit);
  const seen = new Set(waiting);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const next of history.beside(id)) {
      const tree = history.commits.get(next)?.tree;
      const file = tree === undefined || seen.has(next) ? null : unnamed(tree);
      if (file === null || tree === undefined) continue;
      seen.add(next);
      found.set(tree, file);
      waiting.push(next);
    }
  }
  return found;
}

/** Sides of kept conflicts, which lie beside a description that names the note. */
function cutConflicts(history: NoteHistory, id: string, cuts: Cuts): void {
  for (const root of history.roots) {
    const described = history.at(root, "note.json");
    if (described === null || !history.text(described.blob).includes(JSON.stringify(id))) continue;
    const files = history.files(root);
    if (files.some(({ path }) => path.includes("/") || (path.includes(".") && path !== "note.json")))
      continue;
    for (const file of files) if (file.path !== "note.json") add(cuts, root, file);
  }
}
