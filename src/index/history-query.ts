/** Reading history: rows newest first, filters, and cursors that name a place in it for good. */
import { NotesError } from "../domain/errors.ts";
import type { CommitId } from "../domain/note.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { CommitRecord, Row } from "./entry.ts";
import type { HistoryLog } from "./history-log.ts";
import type { HistoryFilter, HistoryRow, Page } from "./note-index.ts";

/** A row as callers see it. */
export function shownRow(commit: CommitRecord, { action, entry, gone }: Row): HistoryRow {
  return {
    commit: commit.id,
    noteId: entry.id,
    path: entry.path,
    action,
    type: entry.brief.type,
    title: entry.brief.title,
    tags: entry.brief.tags,
    agentId: commit.agent?.agentId ?? null,
    agentName: commit.agent?.name ?? null,
    source: commit.source,
    trust: gone ? commit.trust : entry.trust,
    session: commit.session,
    atMs: commit.atMs,
    revision: gone ? null : entry.blob,
  };
}

/**
 * One page of history, newest first (fold order); rows of one commit by path from the last.
 *
 * @param limit  rows on the page
 * @param cursor  `nextCursor` of the page before
 * @throws NotesError INVALID_PARAMS  a cursor that is none of ours
 * @throws NotesError UNKNOWN_COMMIT  the cursor's commit is no longer in the history
 * @cost one look at each row of the history, or of the note when `noteId` is given
 */
export function queryHistory(
  graph: CommitGraph,
  log: HistoryLog,
  filter: HistoryFilter,
  limit: number,
  cursor: string | null,
): Page<HistoryRow> {
  const after = cursor === null ? null : placeOf(log, cursor);
  const items: HistoryRow[] = [];
  let total = 0;
  let last: string | null = null;
  let more = false;
  for (const { commit, row, index } of candidates(graph, log, filter)) {
    if (!passes(filter, commit, row)) continue;
    total += 1;
    if (after && (commit.order > after.order || (commit.order === after.order && index >= after.index)))
      continue;
    if (items.length < limit) {
      items.push(shownRow(commit, row));
      last = `${commit.id}.${index}`;
    } else more = true;
  }
  return { items, total, nextCursor: more ? last : null };
}

interface Candidate {
  readonly commit: CommitRecord;
  readonly row: Row;
  readonly index: number;
}

function* candidates(graph: CommitGraph, log: HistoryLog, filter: HistoryFilter): Generator<Candidate> {
  if (filter.noteId !== undefined) {
    for (const row of [...log.rowsOfNote(filter.noteId)].reverse()) {
      const commit = graph.at(row.commit);
      yield { commit, row, index: commit.rows.indexOf(row) };
    }
    return;
  }
  for (let i = log.order.length - 1; i >= 0; i--) {
    const commit = graph.at(log.order[i] ?? -1);
    for (let index = commit.rows.length - 1; index >= 0; index--) {
      const row = commit.rows[index];
      if (row) yield { commit, row, index };
    }
  }
}

function passes(filter: HistoryFilter, commit: CommitRecord, row: Row): boolean {
  if (filter.agentIds && !(commit.agent && filter.agentIds.includes(commit.agent.agentId))) return false;
  const { type, tags } = row.entry.brief;
  if (filter.types && !(type !== null && filter.types.includes(type))) return false;
  if (filter.tags && !filter.tags.some((tag) => tags.includes(tag))) return false;
  if (filter.actions && !filter.actions.includes(row.action)) return false;
  if (filter.sources && !filter.sources.includes(commit.source)) return false;
  if (filter.session !== undefined && commit.session !== filter.session) return false;
  if (filter.sinceMs !== undefined && commit.atMs < filter.sinceMs) return false;
  return filter.untilMs === undefined || commit.atMs <= filter.untilMs;
}

function placeOf(log: HistoryLog, cursor: string): { order: number; index: number } {
  const match = /^([0-9a-f]{40})\.(0|[1-9][0-9]{0,8})$/.exec(cursor);
  if (match === null) {
    throw new NotesError(
      "INVALID_PARAMS",
      "The cursor is none of this history's. Leave it out to start anew.",
      {
        issues: [{ path: "cursor", message: "not a cursor of notes.history" }],
      },
    );
  }
  // The pattern holds for 40 hex digits.
  const commit = log.reached(match[1] as CommitId);
  if (commit === null) {
    throw new NotesError(
      "UNKNOWN_COMMIT",
      "The history that this cursor pointed into was rewritten. Leave the cursor out to start anew.",
    );
  }
  return { order: commit.order, index: Number(match[2]) };
}
