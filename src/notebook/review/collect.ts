/** What changed since some commits, gathered into the sections of a review: one look at each note that changed. */
import type { CommitId, NoteId } from "../../domain/note.ts";
import type { HistoryRow } from "../../index/note-index.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Review, ReviewDeps, Reviewed } from "./review.ts";
import { reviewNote } from "./review-note.ts";

export interface Touched {
  readonly rows: HistoryRow[];
  byAgent: number;
}

/** So many steps of a note are remembered, the newest; of the others only that they were. */
const ROWS_HELD = 50;

type Found = Omit<Review, "since" | "head" | "conflicts" | "marked">;

/**
 * @param seen  what the history is counted from; @param head  where it ends
 * @cost one look at each commit, two states of each note that changed; in turns
 */
export async function collect(
  deps: ReviewDeps,
  seen: readonly CommitId[],
  head: CommitId | null,
): Promise<Found> {
  const { store, index } = deps;
  const turn = slicer();
  const touched = new Map<NoteId, Touched>();
  const writers = new Map<string, { name: string; isAgent: boolean; writes: number }>();
  let writes = 0;
  let last = { commit: "", name: "" };
  for (const row of index.rowsAfter(seen)) {
    writes += 1;
    const note = touched.get(row.noteId) ?? { rows: [], byAgent: 0 };
    if (note.rows.length < ROWS_HELD) note.rows.push(row);
    if (row.agentId !== null) note.byAgent += 1;
    touched.set(row.noteId, note);
    if (row.agentName === null && row.commit !== last.commit)
      last = { commit: row.commit, name: (await store.commitInfo(row.commit)).author.name };
    const name = row.agentName ?? last.name;
    const key = `${row.agentId} ${name}`;
    const writer = writers.get(key) ?? { name, isAgent: row.agentId !== null, writes: 0 };
    writer.writes += 1;
    writers.set(key, writer);
    await turn();
  }
  const found = { opened: [], conclusions: [], closed: [], edits: [], deleted: [] };
  const sections: Sections = found;
  for (const [noteId, note] of touched) {
    await reviewNote(deps, { noteId, ...note, base: seen, head }, sections);
    await turn();
  }
  const by = [...writers.values()].sort((a, b) => b.writes - a.writes);
  return { writes, notes: touched.size, by, ...sections };
}

/** Newest first, as the notes changed. */
export interface Sections {
  readonly opened: Reviewed[];
  readonly conclusions: Review["conclusions"][number][];
  readonly closed: Reviewed[];
  readonly edits: Review["edits"][number][];
  readonly deleted: Reviewed[];
}
