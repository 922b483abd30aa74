/**
 * Where what is purged stands in a history: each file content and path that holds it, with the commit that brought it.
 * Only trees that reach it are looked into.
 */
import type { CommitId } from "../../domain/note.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { isFolder, treeNode } from "../trees/tree-node.ts";
import type { Rewriting } from "./rewriting.ts";
import type { Survey } from "./survey.ts";

/** One file whose content or path holds it. */
export interface PlacedFile {
  /** UTF-8. */
  readonly path: string;
  readonly mode: string;
  readonly blob: ObjectId;
  /** The file goes, whatever becomes of its content. */
  readonly cut: boolean;
}

export interface Place extends PlacedFile {
  /** The first commit that has it so; parents are looked at first. */
  readonly commit: CommitId;
}

export interface Places {
  /** Files of a tree. */
  in(tree: ObjectId): readonly PlacedFile[];
  /** Files of commits, each content at each path once. @param commits parents before children */
  of(commits: Iterable<CommitId>): Place[];
}

export function placesOf(
  objects: Pick<GitObjects, "find">,
  { tainted }: Pick<Survey, "tainted">,
  rewriting: Pick<Rewriting, "name" | "cutting">,
): Places {
  const known = new Map<string, readonly PlacedFile[]>();

  /** Paths relative to the tree. @param named the path so far holds it: then every file below counts */
  function under(id: ObjectId, named: boolean): readonly PlacedFile[] {
    const key = named ? `${id}!` : id;
    const found = known.get(key);
    if (found !== undefined) return found;
    const tree = objects.find(id);
    const files: PlacedFile[] = [];
    if (tree?.type === "tree")
      for (const { name, mode, id: child } of treeNode(tree.bytes).entries()) {
        const path = Buffer.from(name, "latin1").toString("utf8");
        const below = named || rewriting.name(name) !== name;
        if (isFolder(mode)) {
          if (below || tainted.has(child))
            for (const one of under(child, below)) files.push({ ...one, path: `${path}/${one.path}` });
        } else if (mode !== "160000" && (below || tainted.has(child)))
          files.push({ path, mode, blob: child, cut: false });
      }
    known.set(key, files);
    return files;
  }

  const inRoot = (tree: ObjectId): readonly PlacedFile[] => {
    const files = under(tree, false);
    const cuts = rewriting.cutting?.cuts.get(tree);
    if (cuts === undefined) return files;
    const cut = Array.from(cuts, ([path, file]) => ({ path, ...file, cut: true }));
    return [...files.filter(({ path }) => !cuts.has(path)), ...cut];
  };

  return {
    in: inRoot,
    of(commits) {
      const seen = new Set<string>();
      const places: Place[] = [];
      for (const commit of commits) {
        const raw = objects.find(commit);
        if (raw?.type !== "commit") continue;
        for (const file of inRoot(parseHeader(commit, raw.bytes).tree)) {
          const key = `${file.blob} ${file.path}`;
          if (seen.has(key)) continue;
          seen.add(key);
          places.push({ ...file, commit });
        }
      }
      return places;
    },
  };
}

/** Those of the ids that are commits, parents before children. */
export function inOrder(objects: Pick<GitObjects, "find">, { tainted }: Pick<Survey, "tainted">): CommitId[] {
  const done = new Set<string>();
  const order: CommitId[] = [];
  for (const [start, kind] of tainted) {
    if (kind !== "commit") continue;
    // Kinds are as the survey saw them.
    const waiting = [start as CommitId];
    for (let id = waiting.at(-1); id !== undefined; id = waiting.at(-1)) {
      const found = done.has(id) ? null : objects.find(id);
      const before =
        found?.type === "commit"
          ? parseHeader(id, found.bytes).parents.filter((one) => tainted.has(one) && !done.has(one))
          : [];
      if (before.length > 0) {
        waiting.push(...before);
        continue;
      }
      waiting.pop();
      if (!done.has(id) && found !== null) order.push(id);
      done.add(id);
    }
  }
  return order;
}
