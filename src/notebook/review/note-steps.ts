/** A note's own steps since a moment: its states, what each step changed, and which step tells why. */
import { changedFields, type NoteState } from "../../domain/changed-fields.ts";
import type { CommitId, NoteId } from "../../domain/note.ts";
import type { FileAt, HistoryRow, NoteIndex } from "../../index/note-index.ts";
import type { NoteStore } from "../../store/note-store.ts";

export interface StepsDeps {
  readonly store: Pick<NoteStore, "readBlob" | "commitInfo">;
  readonly index: Pick<NoteIndex, "namedAt" | "noteAt">;
}

/** A row with the states around it, as far as they were looked at. */
interface Step {
  readonly row: HistoryRow;
  readonly fields: readonly string[];
  readonly after: NoteState | null;
}

/** So many steps of one note are looked at, the newest; more would tell a reader no more. */
const MOST_STEPS = 50;

/** A note at a commit; null: it was not there. */
export async function stateAt(
  { store, index }: StepsDeps,
  commit: CommitId | null,
  noteId: NoteId,
): Promise<{ readonly file: FileAt; readonly state: NoteState } | null> {
  const file = commit === null ? null : index.namedAt(commit, noteId);
  if (commit === null || file === null) return null;
  const state = await index.noteAt(commit, file.path, (id) => store.readBlob(id));
  return state && { file, state };
}

/** The steps of these rows of one note, newest first as they are given. @cost a blob a row */
export async function stepsOf(
  deps: StepsDeps,
  rows: readonly HistoryRow[],
  before: NoteState | null,
): Promise<readonly Step[]> {
  const looked = rows.slice(0, MOST_STEPS);
  const states: (NoteState | null)[] = [];
  for (const { commit, path, revision } of looked) {
    states.push(
      revision === null ? null : await deps.index.noteAt(commit, path, (id) => deps.store.readBlob(id)),
    );
  }
  return looked.map((row, at) => {
    const after = states[at] ?? null;
    const from = at + 1 < looked.length ? (states[at + 1] ?? null) : before;
    return { row, after, fields: changedFields(from, after) };
  });
}

/** Who did a step, and why. */
export interface Told {
  readonly commit: CommitId;
  readonly at: string;
  readonly action: string;
  readonly agentName: string | null;
  readonly authorName: string;
  readonly source: HistoryRow["source"];
  readonly trust: HistoryRow["trust"];
  readonly reason: string | null;
}

/** What a row's commit says of it. @cost one object */
export async function toldBy({ store }: Pick<StepsDeps, "store">, row: HistoryRow): Promise<Told> {
  const { author, reason } = await store.commitInfo(row.commit);
  const { commit, action, agentName, source, trust, atMs } = row;
  return {
    commit,
    at: new Date(atMs).toISOString(),
    action,
    agentName,
    authorName: author.name,
    source,
    trust,
    reason,
  };
}

/** The newest step that changed one of these fields; its reason, else that of the newest such step that has one. */
export async function tellingStep(
  deps: StepsDeps,
  steps: readonly Step[],
  telling: (step: Step) => boolean,
): Promise<Told | null> {
  const fitting = steps.filter(telling);
  const [newest] = fitting;
  if (newest === undefined) return null;
  const told = await toldBy(deps, newest.row);
  if (told.reason !== null) return told;
  for (const { row } of fitting.slice(1)) {
    const { reason } = await deps.store.commitInfo(row.commit);
    if (reason !== null) return { ...told, reason };
  }
  return told;
}
