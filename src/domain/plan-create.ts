/** A new typed note: its id, its path and its first bytes. Its author is history's to say, not the file's. */
import type { Change } from "./change.ts";
import { Unreadable } from "./front-matter.ts";
import { writeNoteFile } from "./note-file-write.ts";
import type { Plan, PlanContext } from "./plan.ts";
import {
  checkExtra,
  checkTags,
  checkText,
  checkTitle,
  checkType,
  instantAfter,
  refuseParam,
} from "./plan-values.ts";

/** @throws NotesError INVALID_PARAMS values that no note may have, or that don't fit into front matter */
export function planCreate(change: Extract<Change, { kind: "create" }>, context: PlanContext): Plan {
  const { nowMs } = context;
  const title = checkTitle(change.title);
  const type = checkType(change.noteType, context.types);
  const tags = checkTags(change.tags);
  const content = checkText("content", change.content);
  const extra = Object.entries(checkExtra(change.extra)).filter(([, value]) => value !== null);
  const expiresAt = change.expiresInHours === null ? null : instantAfter(nowMs, change.expiresInHours);
  const noteId = context.newId();
  const path = context.newPath(noteId, title, change.folder);
  const now = new Date(nowMs).toISOString();
  const fields = {
    id: noteId,
    title,
    type,
    tags,
    createdAt: now,
    updatedAt: now,
    status: "open",
    scope: "workspace",
    scopeRefId: null,
    key: null,
    agentId: null,
    agentName: null,
    pinned: change.pinned,
    expiresAt,
    extra: Object.fromEntries(extra),
  } as const;
  try {
    const bytes = writeNoteFile(fields, content);
    return {
      action: "create",
      noteId,
      path,
      expected: null,
      bytes,
      title,
      type,
      changes: null,
      noop: false,
      merged: false,
    };
  } catch (error) {
    if (error instanceof Unreadable)
      throw refuseParam("extra", `does not fit: ${error.message}`, "Put large values into the content.");
    throw error;
  }
}
