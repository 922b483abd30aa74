/**
 * The notebook as a commit of another branch has it: an index folded up to that commit, kept for the next question
 * about it. What the branch itself has, or ever had, the present index answers (`NoteIndex.holds`).
 */
import { NotesError } from "../domain/errors.ts";
import type { CommitId } from "../domain/note.ts";
import type { NoteIndex } from "../index/note-index.ts";
import type { NoteStore } from "../store/note-store.ts";

/** How many such states stay in memory. */
const KEPT = 1;

/**
 * @param newIndex an empty index with the same types and roots as the present one
 * @returns a function from a commit to the index as of it
 * @cost    a fold of all history up to the commit; the last one asked for is kept
 */
export function createPast(
  store: NoteStore,
  newIndex: () => NoteIndex,
): (commit: CommitId) => Promise<NoteIndex> {
  const kept = new Map<CommitId, Promise<NoteIndex>>();

  async function fold(commit: CommitId): Promise<NoteIndex> {
    const index = newIndex();
    await index.rebuild(store.history(null, commit), (id) => store.readBlob(id));
    return index;
  }

  return async (commit) => {
    const known = kept.get(commit) ?? fold(commit);
    kept.delete(commit);
    kept.set(commit, known);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(oldest);
    }
    try {
      return await known;
    } catch (error) {
      kept.delete(commit);
      throw error instanceof NotesError
        ? error
        : new NotesError("UNKNOWN_COMMIT", `The notebook as of ${commit} can't be read.`, {}, error);
    }
  };
}
