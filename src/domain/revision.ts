/**
 * `if_revision`: a change that was made on an older state of the note. It is refused with what the caller
 * needs to mend it in one call, or merged when the caller asked for that.
 *
 * @see spec: protocol, section 4, optimistic concurrency
 */
import type { RevisedChange } from "./change.ts";
import { NotesError } from "./errors.ts";
import { mergeNotes } from "./merge.ts";
import { type NoteText, readNoteFile } from "./note-file.ts";
import { readableNote } from "./note-file-write.ts";
import type { CurrentNote, PlanContext } from "./plan.ts";
import { wishedBytes } from "./plan-update.ts";

/**
 * Compare `ifRevision` with the note.
 *
 * @returns null when the change may be made on the current bytes; else the merged bytes, which are the very
 *   current ones when the change is in them already
 * @throws NotesError CONFLICT  `data.revision`; `data.merged` (the body) when the two changes merge, else
 *   `data.conflict` {ours, theirs, keys}: the body as it is, the body as wished, and the fields both changed
 */
export function settleRevision(
  change: RevisedChange,
  current: CurrentNote,
  context: PlanContext,
): Uint8Array | null {
  if (change.ifRevision === undefined || change.ifRevision === current.revision) return null;
  const refusal = (detail: Record<string, unknown>, advice: string) =>
    new NotesError("CONFLICT", `The note is at revision ${current.revision}, not at if_revision. ${advice}`, {
      revision: current.revision,
      ...detail,
    });
  if (change.kind === "delete" || change.kind === "expire")
    throw refusal({}, "Read it again before you delete it.");
  const { baseBytes, types } = context;
  if (baseBytes === null)
    throw refusal({}, "This repository knows no such revision. Read the note again and repeat the change.");
  const body = (bytes: Uint8Array) => {
    const file = readNoteFile(current.path, bytes, types);
    return file.kind === "note" ? file.body : file.text;
  };
  const wished = wishedBytes(change, { path: current.path, bytes: baseBytes }, context);
  const merge = mergeNotes(baseBytes, current.bytes, wished);
  if (merge.kind === "conflict") {
    throw refusal(
      { conflict: { ours: body(current.bytes), theirs: body(wished), keys: merge.keys } },
      "Both changed the same place: data.conflict has both texts. Send what shall stand, with data.revision as if_revision.",
    );
  }
  if (change.kind === "update" && change.onConflict === "merge") return undated(merge.bytes, current, types);
  throw refusal(
    { merged: body(merge.bytes) },
    "The two changes merge: send data.merged as content with data.revision as if_revision, or use on_conflict merge.",
  );
}

/** The current bytes where a merge differs from them in `updated_at` alone: that is no change. */
function undated(merged: Uint8Array, current: CurrentNote, types: ReadonlySet<string>): Uint8Array {
  const [now, then] = [merged, current.bytes].map((bytes) => readableNote(current.path, bytes, types));
  const told = (note: NoteText | undefined) =>
    JSON.stringify([[...(note?.front.data ?? [])].filter(([key]) => key !== "updated_at"), note?.front.body]);
  return told(now) === told(then) ? current.bytes : merged;
}
