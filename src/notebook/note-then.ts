/**
 * Notes as they were: one at a commit, and the two sides of a difference. The index holds the state of every
 * commit that it has folded, so this reads that one blob and folds nothing. Writes nothing.
 */
import { NotesError } from "../domain/errors.ts";
import { type CommitId, isExpired, type NoteId, type NoteMetadata } from "../domain/note.ts";
import { readNoteFile } from "../domain/note-file.ts";
import type { Caller } from "../domain/principal.ts";
import type { FileAt, NoteIndex } from "../index/note-index.ts";
import type { NoteStore } from "../store/note-store.ts";
import type { Moment, NoteSides, NoteThen } from "./notebook.ts";

interface NoteThenDeps {
  readonly store: Pick<NoteStore, "readBlob" | "commitInfo" | "isAncestor">;
  readonly index: NoteIndex;
  readonly types: ReadonlySet<string>;
  /** An index that holds a commit which the present one does not: one of another branch. */
  readonly past: (commit: CommitId) => Promise<NoteIndex>;
  readonly moment: (text: string, caller: Caller, parameter: string) => Promise<Moment>;
}

export interface NotesThen {
  /**
   * A note at a moment, expired or not.
   * @throws NotesError NOT_FOUND it was not there then: `data.deleted_in`, and `data.last_commit` at which it was
   */
  noteThen(id: string, at: string, caller: Caller): Promise<NoteThen>;
  /** As `noteThen` and shown: @throws NotesError INVALID_NOTE, and NOT_FOUND also for one expired by then */
  readThen(id: string, at: string, caller: Caller): Promise<{ metadata: NoteMetadata; content: string }>;
  /**
   * The files of a note at two moments. Without `to` the last change that the history has; without `from` the
   * state before the last change by `to`.
   * @throws NotesError NOT_FOUND the note never was
   */
  sides(id: string, from: string | undefined, to: string | undefined, caller: Caller): Promise<NoteSides>;
}

/** Make the readers of one notebook's past. */
export function createNotesThen(deps: NoteThenDeps): NotesThen {
  const { store, index } = deps;
  const readBlob = (id: Parameters<NoteStore["readBlob"]>[0]) => store.readBlob(id);

  const viewOf = (commit: CommitId): NoteIndex | Promise<NoteIndex> =>
    index.holds(commit) ? index : deps.past(commit);

  async function noteThen(id: string, at: string, caller: Caller): Promise<NoteThen> {
    const { commit, atMs } = await deps.moment(at, caller, "at");
    if (commit === null) {
      throw new NotesError("NOT_FOUND", `The notebook had no commit at ${at} yet. Name a later moment.`, {
        at,
      });
    }
    const view = await viewOf(commit);
    const file = view.namedAt(commit, id);
    const state = file && (await view.noteAt(commit, file.path, readBlob));
    if (!file || !state) throw await notThere(id, at, commit);
    return { ...file, ...state, revision: file.blob, commit, atMs };
  }

  async function notThere(id: string, at: string, commit: CommitId): Promise<NotesError> {
    const noteId = index.idEver(id);
    const rows = noteId === null ? [] : index.history({ noteId }, ROWS_LOOKED_AT, null).items;
    const gone = rows.find((row) => row.revision === null);
    const deletedIn = gone && (await store.isAncestor(gone.commit, commit)) ? gone.commit : null;
    const last = rows.find((row) => row.revision !== null)?.commit ?? null;
    const when = deletedIn === null ? `was not there at ${at}` : "was deleted by then";
    const advice = last === null ? "List or search to find the id of another." : `It was there at ${last}.`;
    return new NotesError("NOT_FOUND", `The note ${JSON.stringify(id)} ${when}. ${advice}`, {
      note_id: id,
      ...(deletedIn === null ? {} : { deleted_in: deletedIn }),
      ...(last === null ? {} : { last_commit: last }),
    });
  }

  async function fileText(commit: CommitId | null, id: NoteId): Promise<NoteSides["before"]> {
    if (commit === null) return null;
    const view = await viewOf(commit);
    const file: FileAt | null = view.namedAt(commit, id);
    if (file === null) return null;
    return { path: file.path, text: new TextDecoder("utf-8", KEEP_BOM).decode(await readBlob(file.blob)) };
  }

  /** The commit of the note's newest change that a commit has; null: it has none. */
  async function lastChange(noteId: NoteId, by: CommitId | null): Promise<CommitId | null> {
    for (let cursor: string | null = null; ; ) {
      const page = index.history({ noteId }, ROWS_LOOKED_AT, cursor);
      for (const { commit } of page.items) {
        if (by === null || commit === by || (await store.isAncestor(commit, by))) return commit;
      }
      if (page.nextCursor === null) return null;
      cursor = page.nextCursor;
    }
  }

  async function sides(
    id: string,
    from: string | undefined,
    to: string | undefined,
    caller: Caller,
  ): Promise<NoteSides> {
    const noteId = index.idEver(id);
    if (noteId === null) {
      throw new NotesError(
        "NOT_FOUND",
        `The note ${JSON.stringify(id)} does not exist here, and never did. List or search to find the id of another.`,
        { note_id: id },
      );
    }
    const commitOf = async (text: string, parameter: string) =>
      (await deps.moment(text, caller, parameter)).commit;
    const given = to === undefined ? index.head : await commitOf(to, "to");
    if (from !== undefined) {
      const start = await commitOf(from, "from");
      return {
        noteId,
        from: start,
        to: given,
        before: await fileText(start, noteId),
        after: await fileText(given, noteId),
      };
    }
    const end = given === null ? null : await lastChange(noteId, given);
    const start = end === null ? null : ((await store.commitInfo(end)).parents[0] ?? null);
    return {
      noteId,
      from: start,
      to: end ?? given,
      before: await fileText(start, noteId),
      after: await fileText(end, noteId),
    };
  }

  return {
    noteThen,
    sides,
    async readThen(id, at, caller) {
      const { metadata, content, path, revision, atMs, commit } = await noteThen(id, at, caller);
      if (metadata === null) {
        const file = readNoteFile(path, await readBlob(revision), deps.types);
        const { line, reason } =
          file.kind === "quarantined" ? file : { line: null, reason: "it could not be read" };
        throw new NotesError(
          "INVALID_NOTE",
          `${path}${line === null ? "" : `, line ${line}`} could not be read as a note then: ${reason}. Name another moment.`,
          { path, line, reason },
        );
      }
      if (isExpired(metadata, atMs)) throw await notThere(id, at, commit);
      return { metadata, content };
    },
  };
}

const ROWS_LOOKED_AT = 50;
const KEEP_BOM = { ignoreBOM: true };
