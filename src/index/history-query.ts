/** Reading history: rows newest first, filters, and cursors that name a place in it for good. */
import { NotesError } from "../domain/errors.ts";
import { type CommitId, TRUSTS } from "../domain/note.ts";
import type { CommitGraph } from "./commit-graph.ts";
import { taggedWith } from "./entry-table.ts";
import type { HistoryLog } from "./history-log.ts";
import type { HistoryFilter, HistoryRow, Page } from "./note-index.ts";

/** A row as callers see it. */
export function shownRow(graph: CommitGraph, row: number): HistoryRow {
  const { commits, entries, texts } = graph;
  const commit = commits.commitOfRow(row);
  const gone = commits.isGone(row);
  const entry = entries.at(commits.entryOfRow(row));
  const agent = commits.agentOf(commit);
  return {
    commit: commits.idOf(commit),
    noteId: entry.id,
    path: entry.path,
    action: texts.words.at(commits.actionOfRow(row)),
    type: entry.brief.type,
    title: entry.brief.title,
    tags: entry.brief.tags,
    agentId: agent?.agentId ?? null,
    agentName: agent?.name ?? null,
    source: commits.sourceOf(commit),
    trust: TRUSTS[trustOfRow(graph, row)] ?? "pushed",
    session: texts.words.atOrNull(commits.sessionOf(commit)),
    atMs: commits.atMsOf(commit),
    revision: gone ? null : entry.blob,
  };
}

/** Place in `TRUSTS`. Of an expired note's removal it is the note's, as `trustOfRemoval` says. */
function trustOfRow({ commits, entries, texts }: CommitGraph, row: number): number {
  const isTheirs = commits.isGone(row) && texts.words.at(commits.actionOfRow(row)) !== "expire";
  return isTheirs
    ? TRUSTS.indexOf(commits.trustOf(commits.commitOfRow(row)))
    : entries.trustOf(commits.entryOfRow(row));
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
  const { commits } = graph;
  const after = cursor === null ? null : placeOf(log, cursor);
  const passes = filterOf(graph, filter);
  const items: HistoryRow[] = [];
  let total = 0;
  let last: string | null = null;
  let more = false;
  for (const row of rowsOf(graph, log, filter)) {
    const commit = commits.commitOfRow(row);
    if (!passes(commit, row)) continue;
    total += 1;
    const place = log.placeOf(commit);
    const index = row - commits.rowsOf(commit)[0];
    if (after && (place > after.place || (place === after.place && index >= after.index))) continue;
    if (items.length < limit) {
      items.push(shownRow(graph, row));
      last = `${commits.idOf(commit)}.${index}`;
    } else more = true;
  }
  return { items, total, nextCursor: more ? last : null };
}

/**
 * Rows of commits that the head reaches and none of these does, newest first. They are found at once, so that the
 * head may move while they are read.
 * @param seen  numbers of commits
 * @cost a look at each commit
 */
export function* rowsAfter(
  graph: CommitGraph,
  log: HistoryLog,
  seen: readonly number[],
): Generator<HistoryRow> {
  const { commits } = graph;
  const isSeen = new Uint8Array(commits.length);
  const open = [...seen];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (isSeen[number] === 1) continue;
    isSeen[number] = 1;
    for (
      let which = 0, parent = commits.parentOf(number, 0);
      parent >= 0;
      parent = commits.parentOf(number, ++which)
    )
      open.push(parent);
  }
  const rows: number[] = [];
  for (let place = log.length - 1; place >= 0; place--) {
    const number = log.at(place);
    if (isSeen[number] === 1) continue;
    const [from, to] = commits.rowsOf(number);
    for (let row = to - 1; row >= from; row--) rows.push(row);
  }
  for (const row of rows) yield shownRow(graph, row);
}

/** Rows that may pass, newest first. */
function* rowsOf({ commits }: CommitGraph, log: HistoryLog, filter: HistoryFilter): Generator<number> {
  if (filter.noteId !== undefined) {
    yield* log.rowsOfNote(filter.noteId);
    return;
  }
  for (let place = log.length - 1; place >= 0; place--) {
    const [from, to] = commits.rowsOf(log.at(place));
    for (let row = to - 1; row >= from; row--) yield row;
  }
}

/** A filter over numbers: what it names is looked up once, not in each row. */
function filterOf(graph: CommitGraph, filter: HistoryFilter): (commit: number, row: number) => boolean {
  const { commits, entries, texts } = graph;
  const numbers = (names: readonly string[] | undefined) =>
    names && new Set(names.map((name) => texts.words.find(name)).filter((number) => number !== 0));
  const types = numbers(filter.types);
  const actions = numbers(filter.actions);
  const session = filter.session === undefined ? undefined : texts.words.find(filter.session);
  const tagged = taggedWith(entries, filter.tags);
  const minTrust = filter.minTrust && TRUSTS.indexOf(filter.minTrust);
  const {
    agentIds,
    sources,
    sinceMs = Number.NEGATIVE_INFINITY,
    untilMs = Number.POSITIVE_INFINITY,
  } = filter;
  return (commit, row) => {
    const agent = agentIds && commits.agentOf(commit);
    if (agentIds && !(agent && agentIds.includes(agent.agentId))) return false;
    const entry = commits.entryOfRow(row);
    if (types && !types.has(entries.typeOf(entry))) return false;
    if (tagged && !tagged(entries.tagsOf(entry))) return false;
    if (actions && !actions.has(commits.actionOfRow(row))) return false;
    if (sources && !sources.includes(commits.sourceOf(commit))) return false;
    if (minTrust !== undefined && trustOfRow(graph, row) > minTrust) return false;
    if (session !== undefined && (session === 0 || commits.sessionOf(commit) !== session)) return false;
    const atMs = commits.atMsOf(commit);
    return atMs >= sinceMs && atMs <= untilMs;
  };
}

function placeOf(log: HistoryLog, cursor: string): { place: number; index: number } {
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
  return { place: log.placeOf(commit), index: Number(match[2]) };
}
