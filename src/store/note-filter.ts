/** Which tree entries are notes: Markdown under the roots, outside dot folders and node_modules. */
import type { PathFilter } from "./tree-diff.ts";

const leftOut = (folder: string) => folder.startsWith(".") || folder === "node_modules";

/**
 * A filter for the note files under some roots; folders that lead to a root pass as well.
 * @param roots relative folders, or `.` for the whole tree
 */
export function noteFilter(roots: readonly string[]): PathFilter {
  const under = (path: string) => roots.some((root) => root === "." || path.startsWith(`${root}/`));
  return {
    file(path) {
      if (!path.endsWith(".md") || !under(path)) return false;
      const folders = path.split("/");
      return folders.pop()?.startsWith(".") === false && !folders.some(leftOut);
    },
    folder(folder) {
      if (roots.some((root) => root.startsWith(`${folder}/`))) return true;
      return under(`${folder}/`) && !folder.split("/").some(leftOut);
    },
  };
}
