/** What is left to do after a write that may have resolved a kept conflict. */
import type { Warn } from "../../lib/bus.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { WriteOutcome } from "../notebook.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";

/**
 * Drop the conflicts of a note that was written. The write stands, so what goes wrong here is told and can't fail it.
 * @param resolves  it brought new content
 */
export async function dropResolved(
  deps: {
    readonly store: Pick<NoteStore, "dropConflicts">;
    readonly reconciler: Pick<Reconciler, "held" | "resolve">;
    readonly warn: Warn;
  },
  { noteId, path }: Pick<WriteOutcome, "noteId" | "path">,
  resolves: boolean,
): Promise<void> {
  const { store, reconciler, warn } = deps;
  try {
    await store.dropConflicts(noteId);
    // Resolved for the text that the note has already: the file comes to hold it.
    if (resolves && path !== null && reconciler.held(path) === "conflict") await reconciler.resolve(path);
  } catch (error) {
    warn("a conflict that a write resolved is still kept", {
      why: error instanceof Error ? error.message : String(error),
      outcome: "the next update drops it",
    });
  }
}
