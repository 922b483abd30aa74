/**
 * A note as it was, again: its old bytes at its old path, dated now. Pure; what it held then comes in.
 * Invariant: but for `updated_at`, and an expiry that has passed, the bytes are the old ones.
 */
import type { Change } from "./change.ts";
import { changesLine } from "./changes-line.ts";
import { readNoteFile } from "./note-file.ts";
import { datedNoteFile, describedNote, readableNote } from "./note-file-write.ts";
import type { CurrentNote, Plan, PlanContext } from "./plan.ts";

type Restore = Extract<Change, { kind: "restore" }>;

/**
 * @param then     the bytes of `change.revision`
 * @param current  the note as it is; null: it was deleted
 * @throws NotesError INVALID_NOTE  the old bytes can't be read as a note
 */
export function planRestore(
  change: Restore,
  then: Uint8Array,
  current: CurrentNote | null,
  { nowMs, types }: Pick<PlanContext, "nowMs" | "types">,
): Plan {
  const { noteId, path } = change;
  const old = readableNote(path, then, types);
  const hasExpired = old.fields.expiresAt !== null && Date.parse(old.fields.expiresAt) <= nowMs;
  const bytes = datedNoteFile(path, then, types, new Date(nowMs).toISOString(), hasExpired);
  const restored = readableNote(path, bytes, types);
  const { title, type } = restored.fields;
  const place = { action: "restore" as const, noteId, path, title, type, merged: false };
  if (current === null) return { ...place, expected: null, bytes, changes: null, noop: false };
  const stays = current.path === path;
  if (stays && undated(path, current.bytes, types) === undated(path, bytes, types)) {
    return { ...place, expected: current.revision, bytes: current.bytes, changes: null, noop: true };
  }
  const now = readNoteFile(current.path, current.bytes, types);
  return {
    ...place,
    expected: stays ? current.revision : null,
    bytes,
    // A file that can't be read as a note has nothing to tell the old one from.
    changes: now.kind === "note" ? changesLine(describedNote(now), describedNote(restored)) : null,
    noop: false,
    ...(stays ? {} : { leaves: { path: current.path, revision: current.revision } }),
  };
}

/** What a file says but for the day of its last change: two that agree in it need no commit. */
function undated(path: string, bytes: Uint8Array, types: ReadonlySet<string>): string {
  const file = readNoteFile(path, bytes, types);
  if (file.kind === "quarantined") return Buffer.from(bytes).toString("latin1");
  const { data, body } = file.front;
  return JSON.stringify([[...data].filter(([key]) => key !== "updated_at"), body]);
}
