/**
 * Saving a memory: an upsert whose path is its identity. Where no file lies, or one that has expired, a new memory is
 * written; else what changes is spliced into the file that is there. Pure.
 * Invariant: pin and expiry are what this save says, and names that disagree with the path are put right by it.
 */
import type { Change } from "../change.ts";
import { changesLine } from "../changes-line.ts";
import { NotesError } from "../errors.ts";
import { Unreadable } from "../front-matter.ts";
import { type MemoryKey, memoryId } from "../identity.ts";
import type { NoteText } from "../note-file.ts";
import { describedNote, readableNote, updateNoteFile, writeNoteFile } from "../note-file-write.ts";
import { memoryPath } from "../note-path.ts";
import type { CurrentNote, Plan, PlanContext } from "../plan.ts";
import { checkExtra, checkText, instantAfter, refuseParam } from "../plan-values.ts";
import { checkMemoryKey } from "./memory-key.ts";
import { agreeingNames } from "./memory-words.ts";

type Save = Extract<Change, { kind: "save" }>;
type Named = Extract<Change, { kind: "save" | "move" }>;

/** The memory that a save is of, or that a move makes. @throws NotesError INVALID_PARAMS */
export const memoryOf = (change: Named): MemoryKey => checkMemoryKey(change);

/**
 * @param current  the file at the memory's path, expired or not; null: none lies there
 * @throws NotesError INVALID_NOTE   that file can't be read as a note
 * @throws NotesError CONFLICT       `ifRevision` is not the memory's, or there is none; `onlyNew` and there is one
 * @throws NotesError INVALID_PARAMS
 */
export function planSave(change: Save, current: CurrentNote | null, context: PlanContext): Plan {
  const memory = memoryOf(change);
  if (current === null) return made(change, memory, null, context);
  const held = readableNote(current.path, current.bytes, context.types);
  if (hasExpired(held, context.nowMs)) return made(change, memory, current, context);
  if (change.onlyNew) throw taken(current);
  return updated(change, memory, current, held, context);
}

const taken = ({ path, revision, noteId }: CurrentNote) =>
  new NotesError("CONFLICT", `There is a memory at ${path} already. Choose another key, or save over it.`, {
    ...{ reason: "path_taken", path, note_id: noteId, revision },
  });

const hasExpired = ({ fields: { expiresAt } }: NoteText, nowMs: number) =>
  expiresAt !== null && Date.parse(expiresAt) <= nowMs;

/** What a save says beside its names. */
function wishOf(change: Save, nowMs: number) {
  return {
    value: checkText("value", change.value),
    extra: checkExtra(change.extra ?? {}),
    expiresAt: change.expiresInHours === null ? null : instantAfter(nowMs, change.expiresInHours),
  };
}

function made(change: Save, memory: MemoryKey, expired: CurrentNote | null, context: PlanContext): Plan {
  if (change.ifRevision !== undefined) {
    throw new NotesError(
      "CONFLICT",
      "There is no memory under this key (any more), so it is not at if_revision. Save it without one.",
      { revision: null },
    );
  }
  const { nowMs, types } = context;
  const { value, extra, expiresAt } = wishOf(change, nowMs);
  const [noteId, path, now] = [memoryId(memory), memoryPath(memory), new Date(nowMs).toISOString()];
  const fields = {
    id: noteId,
    title: memory.key,
    type: "general",
    tags: [],
    createdAt: now,
    updatedAt: now,
    status: "open",
    scope: memory.scope,
    scopeRefId: memory.ref,
    key: memory.key,
    // The name says it, and is what people read.
    agentId: null,
    agentName: memory.agent,
    pinned: change.pinned,
    expiresAt,
    extra: Object.fromEntries(Object.entries(extra).filter(([, set]) => set !== null)),
  } as const;
  try {
    const bytes = writeNoteFile(fields, value);
    const { title, type } = readableNote(path, bytes, types).fields;
    const expected = expired?.revision ?? null;
    const plain = { action: "save", changes: null, noop: false, merged: false, created: true } as const;
    return { ...plain, noteId, path, expected, bytes, title, type };
  } catch (error) {
    if (error instanceof Unreadable)
      throw refuseParam("extra", `does not fit: ${error.message}`, "Put large values into the value.");
    throw error;
  }
}

function updated(
  change: Save,
  memory: MemoryKey,
  current: CurrentNote,
  held: NoteText,
  context: PlanContext,
): Plan {
  const { path, revision } = current;
  const { nowMs, types } = context;
  const { value, extra, expiresAt } = wishOf(change, nowMs);
  if (change.ifRevision !== undefined && change.ifRevision !== revision) {
    throw new NotesError(
      "CONFLICT",
      `The memory is at revision ${revision}, not at if_revision; data.conflict has both values. Save what shall stand, with data.revision as if_revision.`,
      { revision, conflict: { ours: held.body, theirs: value, keys: [] } },
    );
  }
  const updatedAt = new Date(nowMs).toISOString();
  const names = new Map(agreeingNames(memory, held.front.data));
  // The word stands there already, and counts once it is said by who may: the save must be a commit.
  const pins = change.pinned && held.fields.pinned && context.isPinIdle === true;
  if (pins) names.set("updated_at", updatedAt);
  const wish = { body: value, pinned: change.pinned, expiresAt, extra, names, updatedAt };
  const bytes = updateNoteFile(path, current.bytes, types, wish);
  const after = readableNote(path, bytes, types);
  const { title, type } = after.fields;
  const noop = bytes === current.bytes;
  return {
    action: "save",
    noteId: memoryId(memory),
    path,
    expected: revision,
    bytes,
    title,
    type,
    // Never null where something changed: a save without it made the memory anew, which the fold goes by.
    changes: noop
      ? null
      : (changesLine(describedNote(held), describedNote(after)) ?? (pins ? PINS_ONLY : NAMES_ONLY)),
    noop,
    merged: false,
  };
}

const PINS_ONLY = "pinned: false → true";
/** What is left to tell where only the words that name the memory were put right. */
const NAMES_ONLY = "names: others → the path's";
