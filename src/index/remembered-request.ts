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
  const number = log.requestCommit(key);
  if (number === null) return null;
  const { commits } = graph;
  const request = commits.requestOf(number);
  if (request?.noteId == null) return null;
  const { hash, noteId } = request;
  const commit = commits.idOf(number);
  const row = graph.at(number).rows.find((made) => made.entry.id === noteId);
  if (row?.gone) return { hash, commit, noteId, path: null, revision: null };
  const file = row?.entry ?? fileOf(graph, number, noteId);
  return { hash, commit, noteId, path: file?.path ?? null, revision: file?.blob ?? null };
}

function fileOf(graph: CommitGraph, number: number, id: NoteId): Entry | null {
  for (const path of graph.pathsEverWith(id)) {
    const entry = graph.entryAt(number, path);
    if (entry?.id === id) return entry;
  }
  return null;
}
