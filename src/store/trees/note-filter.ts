/** Which tree entries are notes, from the roots: `domain/note-path.ts` decides, this asks it for folders too. */
import { isNotePath, mayHoldNotes } from "../../domain/note-path.ts";
import type { PathFilter } from "./tree-diff.ts";

/**
 * A filter for the note files under some roots; folders that lead to a root pass as well.
 * @param roots relative folders, or `.` for the whole tree
 */
export function noteFilter(roots: readonly string[]): PathFilter {
  /** A history asks for the same few folders at every commit. */
  const known = new Map<string, boolean>();
  return {
    file: (path) => isNotePath(path, roots),
    folder(folder) {
      const asked = known.get(folder);
      if (asked !== undefined) return asked;
      if (known.size >= FOLDERS_KNOWN) known.clear();
      const holds = mayHoldNotes(folder, roots);
      known.set(folder, holds);
      return holds;
    },
  };
}

const FOLDERS_KNOWN = 4096;
