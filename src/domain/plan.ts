/**
 * From a wish to bytes: what a change makes of a note as it is now, or why it can't. Pure; ids, time and
 * what lies at other revisions come in. Invariant: a refused change has no effect, and a plan whose bytes
 * are the current ones is no change.
 */
import type { Change } from "./change.ts";
import { changesLine } from "./changes-line.ts";
import { NotesError } from "./errors.ts";
import type { CommitAction } from "./event.ts";
import { planMove } from "./memory/plan-move.ts";
import { planSave } from "./memory/plan-save.ts";
import type { BlobId, NoteId, NoteMetadata, RepoPath } from "./note.ts";
import { describedNote, readableNote } from "./note-file-write.ts";
import { planCreate } from "./plan-create.ts";
import { planRestore } from "./plan-restore.ts";
import { wishedBytes } from "./plan-update.ts";
import { settleRevision } from "./revision.ts";

/** The note that a change names, as it is where the change will be built. */
export interface CurrentNote {
  readonly noteId: NoteId;
  readonly path: RepoPath;
  readonly revision: BlobId;
  readonly bytes: Uint8Array;
  readonly title: string;
  readonly type: string;
}

export interface PlanContext {
  readonly nowMs: number;
  /** The note types there are (built in and from settings). */
  readonly types: ReadonlySet<string>;
  /** `limits.note_bytes`, bytes of a whole file. */
  readonly maxNoteBytes: number;
  readonly newId: () => NoteId;
  /** Where a new note goes. @param folder null: by day @throws NotesError INVALID_PARAMS notes in it would not be seen */
  readonly newPath: (id: NoteId, title: string, folder: string | null) => RepoPath;
  /** An expired memory's file where a move goes, which gives way to it. */
  readonly givesWay?: BlobId;
  /** The file's word that it is pinned counts for nothing: it came from who may not pin there. */
  readonly isPinIdle?: boolean;
  /** Bytes of the revision that a restore brings back. */
  readonly thenBytes?: Uint8Array;
  /** Bytes of `ifRevision` when that isn't the current revision; null: unknown. */
  readonly baseBytes: Uint8Array | null;
}

export interface Plan {
  readonly action: CommitAction;
  readonly noteId: NoteId;
  readonly path: RepoPath;
  /** The blob to replace; null for a new note. */
  readonly expected: BlobId | null;
  /** Null removes the file; the very array of `CurrentNote.bytes` when nothing changes. */
  readonly bytes: Uint8Array | null;
  readonly title: string;
  readonly type: string;
  /** For the commit's body; null for a new or deleted note, and when nothing changes. */
  readonly changes: string | null;
  /** True when the bytes are the current ones already. */
  readonly noop: boolean;
  /** True when the change was merged with others made since `ifRevision`. */
  readonly merged: boolean;
  /** Set where a save made a memory anew: there was none, or one that had expired. */
  readonly created?: true;
  /** Where the note lies now, when it goes back to another path. */
  readonly leaves?: { readonly path: RepoPath; readonly revision: BlobId };
}

/**
 * Plan one change.
 *
 * @param current  null for a create, for a restore of a deleted note, and for a save where no file lies
 * @throws NotesError CONFLICT      `ifRevision` is not current (`data.revision`, `data.merged` or `data.conflict`),
 *                                  or an edit's text occurs never or several times (`data.reason`)
 * @throws NotesError INVALID_NOTE  the file can't be read as a note (`data.path`, `data.line`)
 * @throws NotesError TOO_LARGE     the file would be over `maxNoteBytes`
 * @throws NotesError INVALID_PARAMS, NOT_FOUND
 * @cost   three reads and one splice of the note, a line diff of its body
 */
export function plan(change: Change, current: CurrentNote | null, context: PlanContext): Plan {
  if (change.kind === "create") return checkSize(planCreate(change, context), context);
  if (change.kind === "restore") {
    const { thenBytes } = context;
    if (thenBytes === undefined) throw new NotesError("INTERNAL", "A restore was planned without its bytes.");
    return checkSize(planRestore(change, thenBytes, current, context), context);
  }
  if (change.kind === "save") return checkSize(planSave(change, current, context), context);
  if (current === null) {
    throw new NotesError("NOT_FOUND", `There is no note ${change.noteId}. List or search to find its id.`, {
      note_id: change.noteId,
    });
  }
  if (change.kind === "move") return checkSize(planMove(change, current, context), context);
  const { noteId, path, revision, title, type } = current;
  const place = { noteId, path, expected: revision };
  if (change.kind === "delete" || change.kind === "expire") {
    settleRevision(change, current, context);
    return {
      ...place,
      action: change.kind,
      bytes: null,
      title,
      type,
      changes: null,
      noop: false,
      merged: false,
    };
  }
  const before = readableNote(path, current.bytes, context.types);
  const settled = settleRevision(change, current, context);
  const bytes = settled ?? wishedBytes(change, current, context);
  const merged = settled !== null;
  if (bytes === current.bytes) {
    return { ...place, action: change.kind, bytes, title, type, changes: null, noop: true, merged };
  }
  const after = readableNote(path, bytes, context.types);
  const { fields } = after;
  const changes = changesLine(describedNote(before), describedNote(after));
  return checkSize(
    {
      ...place,
      action: change.kind,
      bytes,
      title: fields.title,
      type: fields.type,
      changes,
      noop: false,
      merged,
    },
    context,
  );
}

function checkSize(planned: Plan, { maxNoteBytes }: PlanContext): Plan {
  const bytes = planned.bytes?.byteLength ?? 0;
  if (bytes <= maxNoteBytes) return planned;
  throw new NotesError(
    "TOO_LARGE",
    `The note would have ${bytes} bytes, over the limit of ${maxNoteBytes}. Split it, or move data out of it.`,
    { bytes, limit: maxNoteBytes },
  );
}

/** What of a note a plan needs, from the index's words. */
export function currentNote(metadata: NoteMetadata, bytes: Uint8Array): CurrentNote {
  const { note_id, path, revision, title, type } = metadata;
  return {
    // Ids, paths and revisions of the index are what their brands say.
    noteId: note_id as NoteId,
    path: path as RepoPath,
    revision: revision as BlobId,
    bytes,
    title,
    type,
  };
}
