/**
 * Pages of history: the index finds the rows, the commits say why. Nothing is kept.
 */
import type { CommitInfo } from "../domain/event.ts";
import type { CommitId } from "../domain/note.ts";
import type { HistoryFilter, NoteIndex, Page } from "../index/note-index.ts";
import type { NoteStore } from "../store/note-store.ts";
import type { HistoryEntry } from "./notebook.ts";

interface HistoryDeps {
  readonly index: Pick<NoteIndex, "history">;
  readonly store: Pick<NoteStore, "commitInfo" | "isShallow">;
}

/**
 * One page, newest first. `isCut`: it is the last one, but older history lies outside of a shallow clone.
 * @throws NotesError INVALID_PARAMS, UNKNOWN_COMMIT for a cursor, as `NoteIndex.history`
 * @cost one commit object for each commit on the page
 */
export async function readHistory(
  { index, store }: HistoryDeps,
  filter: HistoryFilter,
  limit: number,
  cursor: string | null,
): Promise<Page<HistoryEntry> & { readonly isCut: boolean }> {
  const page = index.history(filter, limit, cursor);
  const infos = new Map<CommitId, CommitInfo>();
  for (const { commit } of page.items) {
    if (!infos.has(commit)) infos.set(commit, await store.commitInfo(commit));
  }
  const items = page.items.map((row) => {
    const info = infos.get(row.commit);
    const { author, reason = null, changes = null } = info ?? {};
    return { ...row, authorName: author?.name ?? "", reason, changes };
  });
  return { ...page, items, isCut: store.isShallow && page.nextCursor === null };
}
