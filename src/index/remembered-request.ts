/** What a request with an idempotency key did when it was first carried out, read from the commit that did it. */
import type { NoteId } from "../domain/note.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import type { HistoryLog } from "./history-log.ts";
import type { RememberedRequest } from "./note-index.ts";

/**
 * Find a request by its `Request-Key`. Where its commit changed no file, path and revision are those of the note
 * as it stood then; after a delete they are null.
 */
export function rememberedRequest(
  graph: CommitGraph,
  log: HistoryLog,
  key: string,
): RememberedRequest | null {
  const found = log.requests.find(key);
  if (found < 0) return null;
  const number = graph.requests.commitOf(found);
  const { hash, noteId } = graph.requests.at(found);
  if (noteId === null) return null;
  const commit = graph.commits.idOf(number);
  const rows = graph.at(number).rows.filter((made) => made.entry.id === noteId);
  // A note that goes back to another path leaves one and comes to be at the other, in one commit.
  const stays = rows.find((row) => !row.gone);
  if (rows.length > 0 && stays === undefined) return { hash, commit, noteId, path: null, revision: null };
  const file = stays?.entry ?? fileOf(graph, number, noteId);
  return { hash, commit, noteId, path: file?.path ?? null, revision: file?.blob ?? null };
}

function fileOf(graph: CommitGraph, number: number, id: NoteId): Entry | null {
  for (const path of graph.pathsEverWith(id)) {
    const entry = graph.entryAt(number, path);
    if (entry?.id === id) return entry;
  }
  return null;
}
