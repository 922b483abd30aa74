/**
 * Reading notes: as they are now, a person's unsettled save included, or as they were at a commit. Nothing here
 * writes; settling an edit first is the reconciler's work.
 */
import { NotesError } from "../domain/errors.ts";
import type { BlobId, NoteId, NoteMetadata, RepoPath } from "../domain/note.ts";
import { readNoteFile } from "../domain/note-file.ts";
import type { Caller } from "../domain/principal.ts";
import type { NoteIndex, SearchQuery, SearchRow } from "../index/note-index.ts";
import type { NoteStore } from "../store/note-store.ts";
import { requireNote } from "./find-note.ts";
import { lastClean } from "./last-clean.ts";
import type { NotesThen } from "./note-then.ts";
import type { Moment, Notebook, NoteText } from "./notebook.ts";
import type { FirstLook } from "./reconcile/first-look.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import { blame } from "./review/blame.ts";

interface ReadsDeps {
  readonly store: Pick<NoteStore, "readBlob" | "commitInfo" | "conflicts" | "workTree">;
  readonly index: NoteIndex;
  readonly types: ReadonlySet<string>;
  readonly past: (commit: NonNullable<Moment["commit"]>) => Promise<NoteIndex>;
  readonly moment: (text: string, caller: Caller, parameter: string) => Promise<Moment>;
  readonly notesThen: NotesThen;
  readonly reconciler: Pick<Reconciler, "hint" | "dirty" | "settle">;
  readonly firstLook: FirstLook;
  readonly nowMs: () => number;
}

export interface Reads extends Pick<Notebook, "noteThen" | "sides" | "blame"> {
  read(id: string, caller: Caller, at?: string): Promise<NoteText>;
  search(
    query: Omit<SearchQuery, "nowMs"> & { readonly at?: string },
    caller: Caller,
  ): Promise<{ rows: readonly SearchRow[]; total: number }>;
  blobText(id: BlobId): Promise<string>;
}

/** Make the reads of one notebook. */
export function createReads(deps: ReadsDeps): Reads {
  const { index, reconciler, firstLook } = deps;

  function textOf(from: NoteIndex, note: NoteMetadata): string {
    // An index gives the ids it knows.
    const id = note.note_id as NoteId;
    const quarantined = from.quarantine(id);
    if (quarantined !== null) {
      const { path, line, reason } = quarantined;
      throw new NotesError(
        "INVALID_NOTE",
        `${path}${line === null ? "" : `, line ${line}`} can't be read as a note: ${reason}. Correct the file by hand and save it.`,
        { path, line, reason },
      );
    }
    const content = from.content(id);
    if (content === null) throw new NotesError("INTERNAL", `The text of ${id} is not in the index.`);
    return content;
  }

  /** While the daemon starts a note whose file holds what would be served needs to wait for nothing. */
  async function lookedAt(path: RepoPath, revision: string): Promise<boolean> {
    try {
      const [file] = await deps.store.workTree.scan([path]);
      if (file?.kind === "file" && file.blob === revision) return false;
      await firstLook.wait();
    } catch {
      // Trigger: a scan failed. Why: reads go on whatever happens. Outcome: this file is looked at by itself.
    }
    return true;
  }

  /** Commit a person's save of this note first, when one waits. @returns whether one still waits */
  async function settleFirst(path: RepoPath, revision: string): Promise<boolean> {
    if (!firstLook.done && !(await lookedAt(path, revision))) return false;
    await reconciler.hint([path]);
    if (!reconciler.dirty(path)) return false;
    try {
      await reconciler.settle([path]);
    } catch (error) {
      // Trigger: a merge or a full disk. Why: reads go on whatever happens. Outcome: the tip is served, dirty.
      if (!(error instanceof NotesError) || (error.code !== "REPO_BUSY" && error.code !== "STORAGE"))
        throw error;
    }
    return reconciler.dirty(path);
  }

  async function readNow(id: string): Promise<NoteText> {
    const before = index.get(id);
    // Paths of the index are checked ones.
    const dirty = before !== null && (await settleFirst(before.path as RepoPath, before.revision));
    const metadata = requireNote(index, id, deps.nowMs());
    const noteId = metadata.note_id as NoteId;
    const present = textOf(index, metadata);
    const clean = await lastClean(noteId, present, index, (revision) => bodyOf(metadata.path, revision));
    const kept = await deps.store.conflicts();
    return {
      metadata,
      content: clean?.text ?? present,
      dirty,
      conflicted: clean !== null || kept.some((conflict) => conflict.note_id === noteId),
    };
  }

  async function bodyOf(path: string, revision: BlobId): Promise<string> {
    const file = readNoteFile(path, await deps.store.readBlob(revision), deps.types);
    return file.kind === "note" ? file.body : file.text;
  }

  return {
    async read(id, caller, at) {
      if (at === undefined) return readNow(id);
      return { ...(await deps.notesThen.readThen(id, at, caller)), dirty: false, conflicted: false };
    },
    noteThen: deps.notesThen.noteThen,
    async sides(id, from, to, caller) {
      const note = to === undefined ? index.get(id) : null;
      // Paths of the index are checked ones.
      if (note !== null) await settleFirst(note.path as RepoPath, note.revision);
      return deps.notesThen.sides(id, from, to, caller);
    },
    async blame(id, at, caller) {
      const note = at === undefined ? index.get(id) : null;
      if (note !== null) await settleFirst(note.path as RepoPath, note.revision);
      const head = index.head;
      // Of an expired one too: that is history.
      if (at === undefined) requireNote(index, id, Number.NEGATIVE_INFINITY);
      const commit = at === undefined ? head : (await deps.notesThen.noteThen(id, at, caller)).commit;
      if (commit === null || !index.knows(commit)) {
        throw new NotesError(
          "UNKNOWN_COMMIT",
          `The branch does not have ${commit}. Name one of its commits.`,
        );
      }
      const version = index.namedAt(commit, id);
      if (version === null) throw new NotesError("NOT_FOUND", `There was no note ${id} at ${commit}.`);
      return blame({ store: deps.store, index }, version);
    },
    async search({ at, ...query }, caller) {
      if (at === undefined) return index.searchInTurns({ ...query, nowMs: deps.nowMs() });
      const { commit, atMs } = await deps.moment(at, caller, "at");
      // The notebook was empty then.
      if (commit === null) return { rows: [], total: 0 };
      const then = { ...query, nowMs: atMs };
      if (index.holds(commit)) return index.searchAt(commit, then, (id) => deps.store.readBlob(id));
      return (await deps.past(commit)).searchInTurns(then);
    },
    async blobText(id) {
      return new TextDecoder().decode(await deps.store.readBlob(id));
    },
  };
}
