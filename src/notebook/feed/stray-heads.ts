/**
 * Recorded heads that the branch no longer reaches, after a reset: the log goes through them, so the index must
 * be able to tell of them. An index that was just restored or rebuilt holds only what its head reaches.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { Heads } from "./heads.ts";

interface StrayDeps {
  readonly store: Pick<NoteStore, "history" | "readBlob">;
  readonly index: Pick<NoteIndex, "holds" | "apply" | "head">;
  readonly heads: Heads;
}

/**
 * Fold every recorded head that the index does not hold; its own head stays. Those that the repository has lost
 * (a purge) stay unknown: cursors into that part of the log answer UNKNOWN_COMMIT.
 * @cost nothing without strays; else a walk for each
 */
export async function holdStrayHeads({ store, index, heads }: StrayDeps): Promise<void> {
  const { head } = index;
  if (head === null) return;
  const recorded = [heads.start.commit, ...heads.moves.map((move) => move.to)];
  for (const stray of new Set(recorded)) {
    if (stray === null || index.holds(stray)) continue;
    const commits = await missing(store, index, head, stray);
    if (commits.length > 0) await index.apply(commits, (id) => store.readBlob(id), head);
  }
}

async function missing(
  store: StrayDeps["store"],
  index: StrayDeps["index"],
  head: CommitId,
  stray: CommitId,
): Promise<CommitEvents[]> {
  const found: CommitEvents[] = [];
  try {
    for await (const events of store.history(head, stray)) {
      if (!index.holds(events.commit.id)) found.push(events);
    }
    return found;
  } catch (error) {
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return [];
    throw error;
  }
}
