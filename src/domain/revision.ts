/**
 * `if_revision`: a change that was made on an older state of the note. It is refused with what the caller
 * needs to mend it in one call, or merged when the caller asked for that.
 * Invariant: an update with `content: data.merged`, the members of `data.fields` and `if_revision: data.revision`
 * makes of the note what the merge is.
 *
 * @see spec: protocol, section 4, optimistic concurrency
 */
import type { RevisedChange } from "./change.ts";
import { NotesError } from "./errors.ts";
import type { Value } from "./front-matter.ts";
import { same } from "./front-matter-splice.ts";
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
 * @throws NotesError CONFLICT  `data.revision`; when the two changes merge `data.merged` (the body) and `data.fields`
 *   (parameters of an update that the merge changes beside it), else `data.conflict` {ours, theirs, keys, values}:
 *   the body as it is, the body as wished, the keys that both changed and what each made of them
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
  if (change.kind === "delete" || change.kind === "expire") throw refusal({}, DELETE_ADVICE);
  const { baseBytes, types } = context;
  if (baseBytes === null) throw refusal({}, UNKNOWN_ADVICE);
  const read = (bytes: Uint8Array) => readNoteFile(current.path, bytes, types);
  const body = (bytes: Uint8Array) => {
    const file = read(bytes);
    return file.kind === "note" ? file.body : file.text;
  };
  const wished = wishedThen(change, { path: current.path, bytes: baseBytes }, context, current.revision);
  const merge = mergeNotes(baseBytes, current.bytes, wished);
  if (merge.kind === "conflict") {
    const [ours, theirs] = [read(current.bytes), read(wished)];
    const values = ours.kind === "note" && theirs.kind === "note" ? bothOf(merge.keys, ours, theirs) : {};
    throw refusal(
      { conflict: { ours: body(current.bytes), theirs: body(wished), keys: merge.keys, values } },
      CONFLICT_ADVICE[change.kind],
    );
  }
  if (change.kind === "update" && change.onConflict === "merge") return undated(merge.bytes, current, types);
  throw refusal(
    { merged: body(merge.bytes), fields: fieldsOf(change, merge.bytes, current, types) },
    MERGE_ADVICE[change.kind],
  );
}

const DELETE_ADVICE =
  "If it may go as it is now, delete it with data.revision as if_revision; notes.diff shows what changed.";
const UNKNOWN_ADVICE =
  "No such revision is known here. If the change holds for the note as it is now, send the same with data.revision as if_revision; notes.read shows it.";
const BY_UPDATE =
  "notes.update with data.merged as content, the members of data.fields and data.revision as if_revision";
const MERGE_ADVICE = {
  update: `The two changes merge: send the same again with on_conflict merge, or ${BY_UPDATE}.`,
  append: `The two changes merge: send the same again with data.revision as if_revision, or ${BY_UPDATE}.`,
  edit: `The two changes merge: send ${BY_UPDATE}.`,
} as const;
const BOTH =
  "Both changed the same place; data.conflict has the text as it is (ours) and as wished (theirs).";
const CONFLICT_ADVICE = {
  update: `${BOTH} Send what shall stand, with data.revision as if_revision.`,
  append: `${BOTH} Send the same again with data.revision as if_revision, and it comes after the other's text.`,
  edit: `${BOTH} Send notes.update with the content that shall stand and data.revision as if_revision.`,
} as const;

/** What the change makes of the older state; where it can't be made of that one, the refusal tells of the newer. */
function wishedThen(
  change: Exclude<RevisedChange, { kind: "delete" | "expire" }>,
  then: { readonly path: string; readonly bytes: Uint8Array },
  context: PlanContext,
  revision: string,
): Uint8Array {
  try {
    return wishedBytes(change, then, context);
  } catch (error) {
    if (!(error instanceof NotesError) || error.code !== "CONFLICT") throw error;
    throw new NotesError("CONFLICT", error.message, { ...error.data, revision }, error);
  }
}

/** Per key what each side made of it; null: it took it away. */
function bothOf(keys: readonly string[], ours: NoteText, theirs: NoteText) {
  const value = ({ front }: NoteText, key: string) => front.data.get(key) ?? null;
  return Object.fromEntries(keys.map((key) => [key, { ours: value(ours, key), theirs: value(theirs, key) }]));
}

/** The parameters of `notes.update` that make the merge of the note, but for its body. */
function fieldsOf(
  change: RevisedChange,
  merged: Uint8Array,
  current: CurrentNote,
  types: ReadonlySet<string>,
): Record<string, unknown> {
  const { fields: to } = readableNote(current.path, merged, types);
  const { fields: from } = readableNote(current.path, current.bytes, types);
  const changed = {
    ...(to.title === from.title ? {} : { title: to.title }),
    ...(to.type === from.type ? {} : { note_type: to.type }),
    ...(same([...to.tags], [...from.tags]) ? {} : { tags: [...to.tags] }),
    ...(to.status === from.status ? {} : { status: to.status }),
    ...(to.pinned === from.pinned ? {} : { pinned: to.pinned }),
    // An expiry is given by hours from now, so it is the caller's own wish again.
    ...(to.expiresAt === from.expiresAt || change.kind !== "update"
      ? {}
      : { expires_in_hours: change.expiresInHours ?? null }),
  };
  const extra = changedExtra(from.extra, to.extra);
  return Object.keys(extra).length === 0 ? changed : { ...changed, extra };
}

function changedExtra(from: Readonly<Record<string, Value>>, to: Readonly<Record<string, Value>>) {
  const of = (extra: Readonly<Record<string, Value>>, key: string) =>
    Object.hasOwn(extra, key) ? extra[key] : undefined;
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.fromEntries(
    [...keys].filter((key) => !same(of(from, key), of(to, key))).map((key) => [key, of(to, key) ?? null]),
  );
}

/** The current bytes where a merge differs from them in `updated_at` alone: that is no change. */
function undated(merged: Uint8Array, current: CurrentNote, types: ReadonlySet<string>): Uint8Array {
  const [now, then] = [merged, current.bytes].map((bytes) => readableNote(current.path, bytes, types));
  const told = (note: NoteText | undefined) =>
    JSON.stringify([[...(note?.front.data ?? [])].filter(([key]) => key !== "updated_at"), note?.front.body]);
  return told(now) === told(then) ? current.bytes : merged;
}
