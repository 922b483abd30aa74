/**
 * What differs between two trees in entries of every kind: files with their modes, links, submodules. For moving a
 * branch, where nothing may be passed over; notes alone are `tree-diff.ts`. Equal subtrees are skipped unread.
 */
import { NotesError } from "../../domain/errors.ts";
import type { RepoPath } from "../../domain/note.ts";
import { byBytes } from "../../lib/byte-order.ts";
import { slicer } from "../../lib/slicer.ts";
import { type Entry, type EntryChange, sameEntry } from "../advance.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { isFolder, type TreeEntry, treeNode } from "./tree-node.ts";

type ReadTree = (id: ObjectId) => Uint8Array;

const MODES: readonly string[] = ["100644", "100755", "120000", "160000"] satisfies Entry["mode"][];

/** A few trees that hold each other may stand for more files than a disk has. */
const MOST_ENTRIES = 2_000_000;
/** As systems have it; a longer path can't be placed. */
const MOST_PATH_BYTES = 4096;

/** @throws NotesError INVALID_PARAMS a kind of entry that Git has no longer */
export function toEntry(path: string, { mode, id }: TreeEntry): Entry {
  // Old versions of Git wrote other permissions of files; they mean a plain one.
  const known = /^100[0-7]{3}$/.test(mode) && mode !== "100755" ? "100644" : mode;
  if (!MODES.includes(known))
    throw new NotesError(
      "INVALID_PARAMS",
      `${path} has the mode ${mode}, which is no file, link or submodule.`,
      {
        path,
      },
    );
  // One of the list.
  return { mode: known as Entry["mode"], id };
}

/** The text of a name in a tree. @throws NotesError INVALID_PARAMS it is no UTF-8, so that no path can name it */
function legible(folder: string, raw: string): string {
  const bytes = Buffer.from(raw, "latin1");
  const name = bytes.toString("utf8");
  if (Buffer.from(name).equals(bytes)) return name;
  throw new NotesError(
    "INVALID_PARAMS",
    `The folder ${JSON.stringify(folder)} holds a name that is no UTF-8 (${JSON.stringify(name)}); rename that file where it was made.`,
    { path: folder },
  );
}

/**
 * Everything that differs from one tree to another, by path bytes.
 *
 * @param before,after tree ids; null: an empty tree
 * @param mostEntries that may differ, folders too
 * @throws NotesError INVALID_PARAMS more than that, a path that is too long, or no UTF-8, or of a kind that Git has no longer
 * @cost one read for each folder that differs, in slices
 */
export async function diffEntries(
  read: ReadTree,
  before: ObjectId | null,
  after: ObjectId | null,
  mostEntries = MOST_ENTRIES,
): Promise<EntryChange[]> {
  let count = 0;
  const changes: EntryChange[] = [];
  const turn = slicer();
  const namesOf = (id: ObjectId | null) =>
    new Map(
      id === null
        ? []
        : treeNode(read(id))
            .entries()
            .map((entry) => [entry.name, entry] as const),
    );

  async function walk(folder: string, a: ObjectId | null, b: ObjectId | null): Promise<void> {
    if (a === b) return;
    await turn();
    const [old, now] = [namesOf(a), namesOf(b)];
    for (const name of new Set([...old.keys(), ...now.keys()])) {
      const [was, is] = [old.get(name), now.get(name)];
      if (was?.id === is?.id && was?.mode === is?.mode) continue;
      const path = `${folder}${legible(folder, name)}`;
      if (++count > mostEntries) throw tooMuch(`more than ${mostEntries} files and folders differ`, path);
      if (path.length > MOST_PATH_BYTES)
        throw tooMuch(`a path has more than ${MOST_PATH_BYTES} characters`, path);
      const below = (entry: TreeEntry | undefined) =>
        entry !== undefined && isFolder(entry.mode) ? entry.id : null;
      const plain = (entry: TreeEntry | undefined) =>
        entry === undefined || isFolder(entry.mode) ? null : toEntry(path, entry);
      const [from, to] = [plain(was), plain(is)];
      // Joined from tree entries, so it is relative and slash separated.
      if (!sameEntry(from, to)) changes.push({ path: path as RepoPath, before: from, after: to });
      await walk(`${path}/`, below(was), below(is));
    }
  }

  await walk("", before, after);
  return changes.sort((a, b) => byBytes(a.path, b.path));
}

function tooMuch(why: string, path: string): NotesError {
  const message = `Between the two commits ${why}; no notebook is like that, and it is not taken. Make the change smaller where it comes from.`;
  return new NotesError("INVALID_PARAMS", message, { path: path.slice(0, 200) });
}

/** What stands at a path of a tree; null: nothing, or a folder. @cost one read for each folder on the way */
export function entryInTree(read: ReadTree, tree: ObjectId, path: RepoPath): Entry | null {
  const segments = path.split("/").map((segment) => Buffer.from(segment).toString("latin1"));
  const last = segments.pop() ?? "";
  let at = tree;
  for (const segment of segments) {
    const next = treeNode(read(at)).get(segment);
    if (next === null || !isFolder(next.mode)) return null;
    at = next.id;
  }
  const found = treeNode(read(at)).get(last);
  return found === null || isFolder(found.mode) ? null : toEntry(path, found);
}
