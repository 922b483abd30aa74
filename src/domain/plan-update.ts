/** What update, append and edit make of a note's bytes, without regard to revisions. */

import { appendTo } from "./append.ts";
import type { Change } from "./change.ts";
import { linesOf, nearestText, placesOf } from "./edit-place.ts";
import { NotesError } from "./errors.ts";
import type { NoteText } from "./note-file.ts";
import { type NotePatch, readableNote, updateNoteFile } from "./note-file-write.ts";
import { inStyleOf } from "./note-text.ts";
import type { PlanContext } from "./plan.ts";
import {
  checkExtra,
  checkTags,
  checkText,
  checkTitle,
  checkType,
  instantAfter,
  refuseParam,
} from "./plan-values.ts";

type BodyChange = Extract<Change, { kind: "update" | "append" | "edit" }>;

/**
 * The bytes after a change; the very same array when it changes nothing.
 *
 * @throws NotesError CONFLICT      an edit's text occurs never (`no_match`) or several times (`many_matches`)
 * @throws NotesError INVALID_NOTE  the file can't be read as a note; INVALID_PARAMS
 */
export function wishedBytes(
  change: BodyChange,
  note: { readonly path: string; readonly bytes: Uint8Array },
  { nowMs, types }: Pick<PlanContext, "nowMs" | "types">,
): Uint8Array {
  const { path, bytes } = note;
  const patch = patchOf(change, readableNote(path, bytes, types), nowMs, types);
  return updateNoteFile(path, bytes, types, { ...patch, updatedAt: new Date(nowMs).toISOString() });
}

function patchOf(
  change: BodyChange,
  { body, front }: NoteText,
  nowMs: number,
  types: ReadonlySet<string>,
): NotePatch {
  switch (change.kind) {
    case "append":
      return {
        body: appendTo(body, checkText("content", change.content), change.heading ?? null, front.eol),
      };
    case "edit":
      return { body: edited(body, change.oldStr, checkText("new_str", change.newStr), front.eol) };
    case "update": {
      const { title, content, noteType, tags, status, pinned, expiresInHours, extra } = change;
      return {
        ...(title === undefined ? {} : { title: checkTitle(title) }),
        ...(content === undefined ? {} : { body: checkText("content", content) }),
        ...(noteType === undefined ? {} : { type: checkType(noteType, types) }),
        ...(tags === undefined ? {} : { tags: checkTags(tags) }),
        ...(status === undefined ? {} : { status }),
        ...(pinned === undefined ? {} : { pinned }),
        ...(expiresInHours === undefined
          ? {}
          : { expiresAt: expiresInHours === null ? null : instantAfter(nowMs, expiresInHours) }),
        ...(extra === undefined ? {} : { extra: checkExtra(extra) }),
      };
    }
    default:
      return change satisfies never;
  }
}

function edited(body: string, oldStr: string, newStr: string, fileEol: "\n" | "\r\n"): string {
  if (oldStr === "")
    throw refuseParam("old_str", "is empty", "Give the text to replace, exactly as it stands in the note.");
  const wanted = inStyleOf(body, oldStr, fileEol);
  const places = placesOf(body, wanted);
  const [at = 0] = places;
  if (places.length === 0) {
    const nearest = nearestText(body, wanted);
    const advice =
      nearest === null
        ? "Read the note again and copy the text exactly, line breaks included."
        : `Line ${nearest.line} comes nearest: if it was meant, give data.nearest.text as old_str.`;
    throw new NotesError("CONFLICT", `old_str does not occur in the note. ${advice}`, {
      reason: "no_match",
      count: 0,
      ...(nearest === null ? {} : { nearest }),
    });
  }
  if (places.length > 1) {
    const [lines, count] = [linesOf(body, places), places.length];
    throw new NotesError(
      "CONFLICT",
      `old_str occurs ${count} times in the note, on lines ${lines.join(", ")}${lines.length < count ? " …" : ""}. Make it longer, with text around it, until it occurs once.`,
      { reason: "many_matches", count, lines },
    );
  }
  return body.slice(0, at) + inStyleOf(body, newStr, fileEol) + body.slice(at + wanted.length);
}
