/** The conflicts that still stand. A note's is resolved by an update; one of another file by whoever changes that file. */
import type { KeptConflict, NoteStore } from "../../store/note-store.ts";

/**
 * Kept conflicts, without those of files that are no notes and were changed since; these are dropped. What they kept is
 * in history, as the merge's second parent.
 * @cost one look into the tip for each conflict of such a file
 */
export async function standingConflicts(
  store: Pick<NoteStore, "conflicts" | "dropConflicts" | "entryAt" | "tip">,
): Promise<readonly KeptConflict[]> {
  const tip = await store.tip();
  const standing: KeptConflict[] = [];
  for (const conflict of await store.conflicts()) {
    const { note_id, path, ours } = conflict;
    const isOther = tip !== null && note_id === path && ours !== null;
    if (isOther && (await store.entryAt(tip, path))?.id !== ours) await store.dropConflicts(note_id);
    else standing.push(conflict);
  }
  return standing;
}
