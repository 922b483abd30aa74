/**
 * Planning one group of writes: each is planned on the notes as the group's earlier writes will leave them, so
 * a chain of commits can be built at once. Nothing is written here.
 */
import type { Change, WriteRequest } from "../../domain/change.ts";
import { authorOf } from "../../domain/commit-message.ts";
import { NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import { memoryId, newNoteId } from "../../domain/identity.ts";
import { memoryOf } from "../../domain/memory/plan-save.ts";
import { type BlobId, isExpired, type NoteId, type RepoPath } from "../../domain/note.ts";
import { dayFolder, memorySegments, newNotePath, parseFolder } from "../../domain/note-path.ts";
import { currentNote, type Plan, plan } from "../../domain/plan.ts";
import type { Caller } from "../../domain/principal.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import { folderOf } from "../../lib/slash-path.ts";
import type { Draft, NoteStore } from "../../store/note-store.ts";
import { requireNote } from "../find-note.ts";
import { idAtPathOf } from "../memories.ts";
import type { WriteOutcome } from "../notebook.ts";
import type { SecretGuard } from "../secrets/secret-guard.ts";
import { outcomeOf, unchanged } from "./outcome.ts";
import { type Found, ownedBy, saidAfter } from "./owned-by.ts";
import { refuseSecrets } from "./refuse-secrets.ts";

export type PlannedWrite =
  /** Nothing to commit: what it wishes is what an earlier write of the group will have done, so that one answers. */
  | { readonly kind: "like"; readonly earlier: Drafted }
  /** Nothing to commit: the bytes are the same already. */
  | { readonly kind: "answer"; readonly outcome: WriteOutcome }
  | Drafted;

interface Drafted {
  readonly kind: "draft";
  readonly draft: Draft;
  /** The answer, once the draft is committed and folded. */
  readonly answer: (events: CommitEvents) => WriteOutcome;
}

export interface GroupPlanner {
  /** @param requestKey 64 hex to remember the request by, or null */
  plan(request: WriteRequest, caller: Caller, requestKey: string | null): Promise<PlannedWrite>;
}

export interface PlanningDeps {
  readonly store: Pick<NoteStore, "readBlob">;
  readonly index: () => Pick<
    NoteIndex,
    "get" | "deletedIn" | "history" | "idAt" | "idTaken" | "folderCount" | "quarantine"
  >;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly types: ReadonlySet<string>;
  readonly maxNoteBytes: number;
  readonly filenames: "id" | "id-slug";
  readonly secrets: SecretGuard;
  /** Where notes may lie. */
  readonly roots: readonly string[];
  /** What lies in a file whose edit is kept as a conflict; an update with new content resolves and replaces it. */
  readonly keptOnDisk: (path: RepoPath) => BlobId | null;
  /** A blob's id from its bytes. */
  readonly blobId: (bytes: Uint8Array) => BlobId;
}

/** What the group's earlier writes will have done. */
interface Ahead {
  /** Notes as they will be; null: deleted. */
  readonly notes: Map<NoteId, Found | null>;
  /** The last draft of each note. */
  readonly drafts: Map<NoteId, Drafted>;
  readonly added: Map<string, number>;
}

/** Make the planner of one group; the next group needs another. */
export function createGroupPlanner(deps: PlanningDeps): GroupPlanner {
  const ahead: Ahead = { notes: new Map(), drafts: new Map(), added: new Map() };
  return { plan: (request, caller, key) => planWrite(deps, ahead, request, caller, key) };
}

async function planWrite(
  deps: PlanningDeps,
  ahead: Ahead,
  request: WriteRequest,
  caller: Caller,
  requestKey: string | null,
): Promise<PlannedWrite> {
  const { change } = request;
  const nowMs = deps.nowMs();
  const found = await findFor(deps, ahead, change, nowMs);
  const owned = found && ownedBy(found);
  // One that has expired is nobody's to change any more: it is brought back, or saved anew, as a deleted one is.
  const isAnew = change.kind === "restore" || change.kind === "save";
  request.permit?.(owned && isAnew && isExpired(owned, nowMs) ? null : owned);
  const current = found?.note ?? null;
  const ifRevision = "ifRevision" in change ? change.ifRevision : undefined;
  const thenBytes = change.kind === "restore" ? await deps.store.readBlob(change.revision) : undefined;
  const planned = plan(change, current, {
    nowMs,
    types: deps.types,
    maxNoteBytes: deps.maxNoteBytes,
    newId: () =>
      // An id of this group's own is in `ahead`, and was never given before.
      newNoteId(nowMs, deps.randomBytes, (id) => deps.index().idTaken(id) || ahead.notes.has(id as NoteId)),
    newPath: (id, title, folder) =>
      newNotePath(
        folder === null ? byDay(deps, ahead, nowMs) : parseFolder(folder, deps.roots),
        id,
        title,
        deps.filenames,
      ),
    isPinIdle: owned?.pinned === false,
    ...(thenBytes === undefined ? {} : { thenBytes }),
    ...(change.kind === "move" ? await givesWay(deps, ahead, change, nowMs) : {}),
    baseBytes:
      ifRevision === undefined || ifRevision === current?.revision ? null : await bytesOf(deps, ifRevision),
  });
  const metadata = planned.created ? null : (found?.metadata ?? null);
  if (planned.noop && current !== null && requestKey === null) {
    const earlier = ahead.drafts.get(planned.noteId);
    if (earlier !== undefined) return { kind: "like", earlier };
    return { kind: "answer", outcome: unchanged(deps, current, metadata, planned.merged) };
  }
  // Before it is remembered: what the group plans after it must not build on it.
  await refuseSecrets(deps.secrets, planned, request, caller, current?.bytes ?? null);
  const maker = planned.created ? caller.principal : (found?.maker ?? caller.principal);
  if (change.kind === "move") ahead.notes.set(change.noteId, null);
  const said = planned.bytes && saidAfter(planned, planned.bytes, found, caller.principal, deps.types);
  remember(deps, ahead, planned, {
    metadata,
    ...(metadata === null ? { maker } : {}),
    ...(said && { said }),
  });
  const drafted: Drafted = {
    kind: "draft",
    draft: draftOf(planned, request, caller, requestKey, nowMs, resolvedOnDisk(deps, request, planned.path)),
    answer: (events) => outcomeOf(deps, planned, metadata, events, nowMs),
  };
  ahead.drafts.set(planned.noteId, drafted);
  return drafted;
}

/** The note that a change is of; null: none yet, or for a restore none any more. */
async function findFor(
  deps: PlanningDeps,
  ahead: Ahead,
  change: Change,
  nowMs: number,
): Promise<Found | null> {
  if (change.kind === "create") return null;
  if (change.kind === "expire") return findExpired(deps, ahead, change.noteId, nowMs);
  if (change.kind === "save") return findAtPath(deps, ahead, change);
  if (change.kind !== "restore") return find(deps, ahead, change.noteId, nowMs);
  const planned = ahead.notes.get(change.noteId);
  const named = planned === undefined ? deps.index().get(change.noteId) : null;
  // What has the id as the stem of its file alone is another note.
  const there = planned ?? (named?.note_id === change.noteId ? named : null);
  const taker = deps.index().idAt(change.path);
  if (taker !== null && taker !== change.noteId) {
    // A file that can't be read as a note any more has lost its id: what it was before may come back there.
    if (there !== null || deps.index().quarantine(taker) === null) throw pathTaken(change.path, taker);
    return find(deps, ahead, taker, nowMs);
  }
  // Not by `find`: an expired note is brought back too.
  return there === null ? null : find(deps, ahead, change.noteId, Number.NEGATIVE_INFINITY);
}

/** What lies at a memory's path, expired or not; null: nothing. */
async function findAtPath(
  deps: PlanningDeps,
  ahead: Ahead,
  change: Extract<Change, { kind: "save" | "move" }>,
) {
  const planned = ahead.notes.get(memoryId(memoryOf(change)));
  if (planned !== undefined) return planned;
  const taker = idAtPathOf(deps.index(), change);
  return taker === null || ahead.notes.get(taker) === null
    ? null
    : find(deps, ahead, taker, Number.NEGATIVE_INFINITY);
}

/** An expired memory where a move goes. @throws NotesError CONFLICT what is there has not expired */
async function givesWay(
  deps: PlanningDeps,
  ahead: Ahead,
  change: Extract<Change, { kind: "move" }>,
  nowMs: number,
) {
  const there = await findAtPath(deps, ahead, change);
  if (there === null) return {};
  const { note } = there;
  if (!isExpired(ownedBy(there), nowMs)) throw pathTaken(note.path, note.noteId);
  return { givesWay: note.revision };
}

const pathTaken = (path: RepoPath, taker: NoteId) =>
  new NotesError(
    "CONFLICT",
    `${path}, where the note is to lie, is the path of ${taker}. Nothing was written; move or delete that note first.`,
    { reason: "path_taken", path, note_id: taker },
  );

async function find(deps: PlanningDeps, ahead: Ahead, id: NoteId, nowMs: number): Promise<Found> {
  const planned = ahead.notes.get(id);
  if (planned) return planned;
  const metadata = requireNote(deps.index(), id, nowMs, planned === null);
  const again = ahead.notes.get(metadata.note_id as NoteId);
  if (again) return again;
  const bytes = await deps.store.readBlob(metadata.revision as BlobId);
  return { note: currentNote(metadata, bytes), metadata };
}

/** @throws NotesError CONFLICT it has not expired, or an earlier write of the group changed it */
async function findExpired(deps: PlanningDeps, ahead: Ahead, id: NoteId, nowMs: number) {
  const found = await find(deps, ahead, id, Number.NEGATIVE_INFINITY);
  if (isExpired(ownedBy(found), nowMs)) return found;
  throw new NotesError("CONFLICT", `The note ${id} has not expired.`, { revision: found.note.revision });
}

async function bytesOf(deps: PlanningDeps, revision: string): Promise<Uint8Array | null> {
  try {
    // The store refuses what is no blob of this repository.
    return await deps.store.readBlob(revision as BlobId);
  } catch (error) {
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return null;
    throw error;
  }
}

function byDay(deps: PlanningDeps, ahead: Ahead, nowMs: number): RepoPath {
  return dayFolder(nowMs, (folder) => deps.index().folderCount(folder) + (ahead.added.get(folder) ?? 0));
}

function remember(deps: PlanningDeps, ahead: Ahead, planned: Plan, known: Omit<Found, "note">): void {
  const { noteId, path, bytes, title, type } = planned;
  if (bytes === null) {
    ahead.notes.set(noteId, null);
    return;
  }
  const note = { noteId, path, revision: deps.blobId(bytes), bytes, title, type };
  ahead.notes.set(noteId, { note, ...known });
  if (planned.expected !== null) return;
  const folder = folderOf(path);
  ahead.added.set(folder, (ahead.added.get(folder) ?? 0) + 1);
}

/** Whether a change says what the whole note shall hold, and so resolves a conflict that is kept for it. */
export const resolvesConflict = (change: Change): boolean =>
  change.kind === "restore" || (change.kind === "update" && change.content !== undefined);

function resolvedOnDisk(deps: PlanningDeps, { change }: WriteRequest, path: RepoPath): BlobId | null {
  return resolvesConflict(change) ? deps.keptOnDisk(path) : null;
}

function draftOf(
  planned: Plan,
  { reason, idempotency }: WriteRequest,
  { principal, session }: Caller,
  requestKey: string | null,
  nowMs: number,
  onDisk: BlobId | null,
): Draft {
  const { action, noteId, path, expected, bytes, title, type, changes, leaves } = planned;
  const moved = leaves ? [{ path: leaves.path, expected: leaves.revision, bytes: null }] : [];
  return {
    author: authorOf(principal),
    atMs: nowMs,
    message: {
      action,
      label: memorySegments(path)?.scope ?? type,
      title,
      reason,
      changes,
      noteIds: [noteId],
      noteType: type,
      source: "api",
      agent: principal.kind === "agent" ? principal.name : null,
      agentId: principal.kind === "agent" ? principal.agentId : null,
      session,
      requestKey,
      requestHash: requestKey === null ? null : (idempotency?.hash ?? null),
    },
    files: planned.noop ? [] : [{ path, expected, bytes, ...(onDisk === null ? {} : { onDisk }) }, ...moved],
    origin: "door",
  };
}
