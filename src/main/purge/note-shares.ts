/** What of a note that goes stays all the same, since other files hold it: contents, folders, and where. Reads only. */
import type { GitObjects } from "../../store/objects/objects.ts";
import { below, type Cuts } from "../../store/purge/rewriting.ts";
import { isFolder } from "../../store/trees/tree-node.ts";
import { treeReader } from "./note-history.ts";

interface Stays {
  /** Contents and folders that a file or folder which stays still is. */
  readonly blobs: Set<string>;
  readonly trees: Set<string>;
  /** Folders in which something was cut. */
  readonly cutTrees: Set<string>;
  /** Where contents of the note stay. */
  readonly paths: Set<string>;
}

/**
 * @param roots root trees
 * @param blobs contents of the note
 * @cost each tree once, and those on the way to a cut once for each set of cuts below them
 */
export function whatStays(
  objects: Pick<GitObjects, "find">,
  roots: Iterable<string>,
  cuts: Cuts,
  blobs: ReadonlySet<string>,
): Stays {
  const entries = treeReader(objects);
  const stays: Stays = { blobs: new Set(), trees: new Set(), cutTrees: new Set(), paths: new Set() };
  const seen = new Set<string>();
  /** Whether a folder holds contents of the note, so that its places are told with their paths. */
  const holds = new Map<string, boolean>();
  const isHolding = (tree: string): boolean => {
    const known = holds.get(tree);
    if (known !== undefined) return known;
    const found = [...entries(tree).values()].some(({ mode, blob }) =>
      isFolder(mode) ? isHolding(blob) : blobs.has(blob),
    );
    holds.set(tree, found);
    return found;
  };
  const walk = (tree: string, folder: string, gone: ReadonlySet<string>) => {
    (gone.size > 0 ? stays.cutTrees : stays.trees).add(tree);
    // Where nothing of the note is, one look at a folder is enough.
    const key = isHolding(tree) ? `${tree} ${folder}\0${[...gone].join("\0")}` : tree;
    if (seen.has(key)) return;
    seen.add(key);
    for (const { path, mode, blob } of entries(tree).values()) {
      if (isFolder(mode)) walk(blob, `${folder}${path}/`, below(gone, path));
      else if (!gone.has(path) && blobs.has(blob)) {
        stays.blobs.add(blob);
        stays.paths.add(folder + path);
      }
    }
  };
  for (const root of roots) walk(root, "", new Set(cuts.get(root)?.keys() ?? []));
  return stays;
}
