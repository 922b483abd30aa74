/**
 * Finding a note by its name in the state of any folded commit. Names are ids, and stems of files without one.
 * Pure over the graph; what the head holds is found faster by `head-state.ts`.
 */
import type { CommitId, NoteId, RepoPath } from "../domain/note.ts";
import { stemOf } from "../lib/slash-path.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import type { HistoryLog } from "./history-log.ts";
import { shownRow } from "./history-query.ts";
import type { FileAt, HistoryRow } from "./note-index.ts";
import type { Parts } from "./parts.ts";

/** An entry as callers see it. */
export function fileOf(graph: CommitGraph, entry: Entry | null): FileAt | null {
  if (entry === null) return null;
  const { path, blob, id: noteId, trust, brief } = entry;
  return { path, blob, noteId, changedIn: graph.commits.idOf(entry.changed), trust, type: brief.type };
}

/** The commit that deleted a note that is no more. */
export function deletedIn({ state, log, graph }: Parts, id: string): CommitId | null {
  if (state.byId(id)) return null;
  // An id that was never given has no rows.
  for (const row of log.rowsOfNote(id as NoteId)) {
    if (graph.commits.isGone(row)) return graph.commits.idOf(graph.commits.commitOfRow(row));
  }
  return null;
}

/** History rows of one commit, by path. */
export function rowsOfCommit({ graph, log }: Parts, id: CommitId): readonly HistoryRow[] {
  const commit = log.reached(id);
  if (commit === null) return [];
  const [from, to] = graph.commits.rowsOf(commit);
  return Array.from({ length: to - from }, (_, i) => shownRow(graph, from + i));
}

/** Every path that a note id has had, newest first. */
export function pathsOf({ state, log, graph }: Parts, id: NoteId): readonly RepoPath[] {
  const past = [...log.rowsOfNote(id)].map((row) => graph.commits.row(row).entry.path);
  const now = state.byId(id)?.entry.path;
  return [...new Set(now === undefined ? past : [now, ...past])];
}

/**
 * The note file that a name meant in the state of a commit.
 * @returns null when there was none, or when a stem was not unique
 * @cost by id one look at each path that the id ever had; by stem one at every path that ever was
 */
export function entryNamed(graph: CommitGraph, commit: number, name: string): Entry | null {
  for (const path of graph.pathsEverWith(name)) {
    const entry = graph.entryAt(commit, path);
    if (entry?.id === name) return entry;
  }
  let found: Entry | null = null;
  for (const path of pathsWithStem(graph, name)) {
    const entry = graph.entryAt(commit, path);
    if (entry === null || entry.brief.claim !== null) continue;
    if (found !== null) return null;
    found = entry;
  }
  return found;
}

/**
 * The id of a note that is or was in the history, by id or by the stem of its file.
 * @returns null when no note, or more than one, ever had the name
 * @cost as `entryNamed`
 */
export function idEver(graph: CommitGraph, log: HistoryLog, name: string): NoteId | null {
  // An id that was never given has no rows.
  for (const _ of log.rowsOfNote(name as NoteId)) return name as NoteId;
  const ids = new Set<NoteId>();
  for (const path of pathsWithStem(graph, name)) {
    for (const entry of graph.entriesEverAt(path)) if (entry.brief.claim === null) ids.add(entry.id);
  }
  const [only] = ids;
  return ids.size === 1 && only !== undefined ? only : null;
}

function* pathsWithStem({ texts }: CommitGraph, stem: string): Generator<RepoPath> {
  if (stem === "") return;
  for (let number = 1; number < texts.paths.size; number++) {
    const path = texts.paths.at(number);
    // The brand: paths of entries.
    if (path.includes(stem) && stemOf(path) === stem) yield path as RepoPath;
  }
}
