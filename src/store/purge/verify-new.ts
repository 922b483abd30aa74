/**
 * Proves a new history before anything of the old one goes: every object that it reaches is here and is what its name
 * says, none of them must go, and every file but those that hold what is purged is byte for byte what it was.
 */

import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { isFolder, treeNode } from "../trees/tree-node.ts";
import { tagTarget } from "./raw-object.ts";
import type { Survey } from "./survey.ts";

type Source = Pick<GitObjects, "find">;

function refuse(what: string): NotesError {
  return new NotesError(
    "STORAGE",
    `The new history is not whole: ${what}. Nothing was changed; run git fsck.`,
  );
}

/** The first thing wrong with what roots reach. */
export interface Flaw {
  readonly id: ObjectId;
  readonly why: "missing" | "purged";
}

/**
 * Walk all that roots reach.
 * @param gone objects that none of them may reach
 * @returns null: everything is here, and none of it is gone
 * @throws NotesError STORAGE an object is damaged
 * @cost reads each object once
 */
export function flawIn(
  objects: Source,
  gone: { has(id: ObjectId): boolean },
  roots: Iterable<ObjectId>,
): Flaw | null {
  const seen = new Set<ObjectId>();
  const waiting: ObjectId[] = [];
  const see = (id: ObjectId) => {
    if (seen.has(id)) return;
    seen.add(id);
    waiting.push(id);
  };
  for (const root of roots) see(root);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (gone.has(id)) return { id, why: "purged" };
    const found = objects.find(id);
    if (found === null) return { id, why: "missing" };
    const { type, bytes } = found;
    if (type === "tag") see(tagTarget(bytes).id);
    else if (type === "commit") {
      // It is one.
      const { tree, parents } = parseHeader(id as CommitId, bytes);
      see(tree);
      for (const parent of parents) see(parent);
    } else if (type === "tree")
      for (const { mode, id: child } of treeNode(bytes).entries()) if (mode !== "160000") see(child);
  }
  return null;
}

/**
 * @param roots what refs, stashes and the Git index will hold
 * @throws NotesError STORAGE what is missing, damaged, or must not be there
 * @cost reads each object once
 */
export function verifyWhole(
  objects: Source,
  { tainted }: Pick<Survey, "tainted">,
  roots: Iterable<ObjectId>,
): void {
  const flaw = flawIn(objects, tainted, roots);
  if (flaw === null) return;
  throw refuse(flaw.why === "purged" ? `${flaw.id} still reaches what is purged` : `${flaw.id} is missing`);
}

/**
 * Compare two trees file by file.
 * @param affected paths of the old one that hold what is purged
 * @returns how many files are the same
 * @throws NotesError STORAGE another one differs, or there are others
 */
export function verifySameFiles(
  objects: Source,
  before: ObjectId,
  after: ObjectId,
  affected: ReadonlySet<string>,
): number {
  const now = new Map(filesOf(objects, after));
  let same = 0;
  let changed = 0;
  for (const [path, held] of filesOf(objects, before)) {
    if (affected.has(path)) {
      changed++;
      continue;
    }
    if (now.get(path) !== held) throw refuse(`${path} would change, which doesn't hold it`);
    same++;
  }
  if (now.size - same > changed) throw refuse("it would have files that were not there");
  return same;
}

/** Path to mode and id. */
function* filesOf(objects: Source, tree: ObjectId, folder = ""): Generator<readonly [string, string]> {
  const found = objects.find(tree);
  if (found === null) throw refuse(`${tree} is missing`);
  for (const { name, mode, id } of treeNode(found.bytes).entries()) {
    const path = folder + Buffer.from(name, "latin1").toString("utf8");
    if (isFolder(mode)) yield* filesOf(objects, id, `${path}/`);
    else yield [path, `${mode} ${id}`];
  }
}
