/** What callers are told of a move of the head: one NoteChange for each note, from the states before and after. */
import { changedFields } from "../domain/changed-fields.ts";
import type { CommitId, RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import type { FileChange, Folded } from "./fold.ts";
import { type LiveNote, stateOf } from "./metadata.ts";
import type { NoteChange } from "./note-index.ts";

/** A note before and after, by path; null: not there. */
type LookUp = (path: RepoPath) => LiveNote | null;

/** The changes of one commit, by path; a file whose id moved without a change of its own is an update. */
export function changesOf(commit: CommitId, folded: Folded, before: LookUp, after: LookUp): NoteChange[] {
  const told = new Set(folded.changes.flatMap((change) => [change.path, change.renamedFrom]));
  const moved = [...folded.left.keys()]
    .filter((path) => !told.has(path))
    .map((path): FileChange => ({ path, how: "update", action: "update", renamedFrom: null }));
  return [...folded.changes, ...moved]
    .sort((a, b) => byBytes(a.path, b.path))
    .flatMap(
      (change) =>
        noteChange(commit, change.action, before(change.renamedFrom ?? change.path), after(change.path)) ??
        [],
    );
}

/** The difference of two states at the given paths, as of the new head; a note that moved is a rename. */
export function differenceOf(
  commit: CommitId,
  paths: readonly RepoPath[],
  before: LookUp,
  after: LookUp,
): NoteChange[] {
  const gone = new Map<string, LiveNote>();
  for (const path of paths) {
    const note = before(path);
    if (note && after(path) === null) gone.set(note.entry.id, note);
  }
  const changes: NoteChange[] = [];
  const tell = (action: string, from: LiveNote | null, to: LiveNote | null) => {
    const change = noteChange(commit, action, from, to);
    if (change) changes.push(change);
  };
  for (const path of [...paths].sort(byBytes)) {
    const [from, to] = [before(path), after(path)];
    if (to === null) continue;
    const source = from === null ? gone.get(to.entry.id) : undefined;
    if (source) {
      gone.delete(to.entry.id);
      tell("rename", source, to);
    } else if (from === null) tell("create", null, to);
    else if (from.entry.blob !== to.entry.blob || from.entry.id !== to.entry.id) tell("update", from, to);
  }
  for (const note of gone.values()) tell("delete", note, null);
  return changes.sort((a, b) => byBytes(a.path, b.path));
}

function noteChange(
  commit: CommitId,
  action: string,
  from: LiveNote | null,
  to: LiveNote | null,
): NoteChange | null {
  const shown = to ?? from;
  if (shown === null) return null;
  const before = from && stateOf(from);
  const after = to && stateOf(to);
  return {
    commit,
    noteId: shown.entry.id,
    path: shown.entry.path,
    action,
    after: after?.metadata ?? null,
    before: before?.metadata ?? null,
    fields: changedFields(before, after),
    revision: to?.entry.blob ?? null,
  };
}
