/** Which tree entries are notes, from the roots: `domain/note-path.ts` decides, this asks it for folders too. */
import { isNotePath, mayHoldNotes } from "../../domain/note-path.ts";
import type { PathFilter } from "./tree-diff.ts";

/**
 * A filter for the note files under some roots; folders that lead to a root pass as well.
 * @param roots relative folders, or `.` for the whole tree
 */
export function noteFilter(roots: readonly string[]): PathFilter {
  return {
    file: (path) => isNotePath(path, roots),
    folder: (folder) => mayHoldNotes(folder, roots),
  };
}
