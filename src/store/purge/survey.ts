/**
 * Which objects of a repository must go: those that hold what is purged, and each that reaches one of them, since a
 * tree or commit with a hole is worse than none. Everything else stays as it is, reachable or not.
 * Invariant: what no purge named is never among them.
 */
import type { CommitId } from "../../domain/note.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { treeNode } from "../trees/tree-node.ts";
import { holdsItself, tagTarget } from "./raw-object.ts";
import type { ObjectKind, Rewriting } from "./rewriting.ts";

export interface Survey {
  /** Objects looked into. */
  readonly objects: number;
  /** Objects that hold it themselves: content, a name, a message. */
  readonly hits: ReadonlyMap<ObjectId, ObjectKind>;
  /** These and what reaches them. */
  readonly tainted: ReadonlyMap<ObjectId, ObjectKind>;
}

/**
 * @param ids every object of the repository
 * @throws NotesError STORAGE one that is damaged: who can't be read can't be cleared
 * @cost reads every object once, trees and commits twice; 200 bytes an object
 */
export function surveyObjects(
  objects: Pick<GitObjects, "find">,
  ids: Iterable<ObjectId>,
  rewriting: Rewriting,
): Survey {
  const hits = new Map<ObjectId, ObjectKind>();
  const tainted = new Map<ObjectId, ObjectKind>();
  const byKind = { tree: [] as ObjectId[], commit: [] as ObjectId[], tag: [] as ObjectId[] };
  let count = 0;
  const hit = (id: ObjectId, kind: ObjectKind) => {
    hits.set(id, kind);
    tainted.set(id, kind);
  };
  for (const id of ids) {
    const found = objects.find(id);
    if (found === null) continue;
    count++;
    const { type, bytes } = found;
    if (type === "blob") {
      if (rewriting.blob(id, bytes) !== bytes) hit(id, "blob");
    } else if (type === "tree" || type === "commit" || type === "tag") {
      byKind[type].push(id);
      if (type !== "tree" && holdsItself(bytes, rewriting)) hit(id, type);
    }
  }
  const reader = reachesIn(objects, rewriting, tainted, (id) => hit(id, "tree"));
  for (const id of byKind.tree) reader.tree(id);
  for (const id of byKind.commit) reader.commit(id);
  for (const id of byKind.tag) reader.tag(id);
  return { objects: count, hits, tainted };
}

/** Whether an object reaches one that must go; each is looked at once, and what isn't here reaches nothing. */
function reachesIn(
  objects: Pick<GitObjects, "find">,
  rewriting: Rewriting,
  tainted: Map<ObjectId, ObjectKind>,
  named: (tree: ObjectId) => void,
) {
  const done = new Set<ObjectId>();

  function tree(id: ObjectId): boolean {
    if (done.has(id)) return tainted.has(id);
    done.add(id);
    const found = objects.find(id);
    if (found?.type !== "tree") return false;
    if (rewriting.cutting?.trees.has(id)) named(id);
    for (const { name, mode, id: child } of treeNode(found.bytes).entries()) {
      if (rewriting.name(name) !== name) named(id);
      if (mode === "160000") continue;
      const isTree = mode === "40000" || mode === "040000";
      if (isTree ? tree(child) : tainted.has(child)) tainted.set(id, "tree");
    }
    return tainted.has(id);
  }

  /** Histories are deeper than a stack. */
  function commit(wanted: ObjectId): boolean {
    const waiting = [wanted];
    for (let id = waiting.at(-1); id !== undefined; id = waiting.at(-1)) {
      const found = done.has(id) ? null : objects.find(id);
      if (found?.type !== "commit") {
        done.add(id);
        waiting.pop();
        continue;
      }
      // As its own id: 40 hex digits of a commit.
      const { tree: root, parents } = parseHeader(id as CommitId, found.bytes);
      const before = parents.filter((parent) => !done.has(parent));
      if (before.length > 0) {
        waiting.push(...before);
        continue;
      }
      done.add(id);
      waiting.pop();
      const isCut = rewriting.cutting?.cuts.has(root) === true;
      if (tree(root) || isCut || parents.some((parent) => tainted.has(parent))) tainted.set(id, "commit");
    }
    return tainted.has(wanted);
  }

  function tag(id: ObjectId): boolean {
    const found = done.has(id) ? null : objects.find(id);
    done.add(id);
    if (found?.type !== "tag") return tainted.has(id);
    const target = tagTarget(found.bytes);
    const reaches =
      target.kind === "tag"
        ? tag(target.id)
        : target.kind === "tree"
          ? tree(target.id)
          : target.kind === "commit"
            ? commit(target.id)
            : tainted.has(target.id);
    if (reaches) tainted.set(id, "tag");
    return tainted.has(id);
  }

  return { tree, commit, tag };
}
