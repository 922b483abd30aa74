/** `notes.update`: change some of a note's fields. */
import { z } from "zod";
import { Status } from "../domain/note.ts";
import { defineAction } from "./action.ts";
import { given } from "./filter-inputs.ts";
import {
  Content,
  ExpiresInHours,
  Extra,
  IfRevision,
  NoteIdInput,
  NoteType,
  noteId,
  Tags,
  Title,
  unique,
  WriteInputs,
} from "./inputs.ts";
import { UpdateOutput, updateAnswer, WRITE_ERRORS, write } from "./write.ts";

export const notesUpdate = defineAction({
  name: "notes.update",
  effects: "write",
  summary: "Change fields of a note; what is not named stays.",
  description:
    "Change a note's title, text, type, tags, status or further keys. With if_revision a change by someone else in between is refused with CONFLICT, or merged with on_conflict merge; without it the last writer wins and history keeps both.",
  input: z.strictObject({
    note_id: NoteIdInput,
    title: Title.optional(),
    content: Content.optional().describe("The whole new text. To change a part use notes.edit."),
    note_type: NoteType.optional(),
    tags: Tags.optional().describe("The whole new list."),
    status: Status.optional().describe("The new status."),
    extra: Extra.optional(),
    pinned: z.boolean().optional().describe("Only the author or a person may set this."),
    expires_in_hours: ExpiresInHours.nullable()
      .optional()
      .describe("Hours from now; null: never. Only the author or a person may set this."),
    if_revision: IfRevision.optional(),
    on_conflict: z
      .enum(["fail", "merge"])
      .default("fail")
      .describe("What to do when the note is not at if_revision."),
    ...WriteInputs,
  }),
  output: UpdateOutput,
  errors: ["NOT_FOUND", "CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS],
  examples: [
    {
      name: "Resolve a blocker",
      params: {
        note_id: "note_20261130_101500_k3vq7a",
        status: "resolved",
        reason: "Fixed by the migration",
      },
      result: { note_id: "note_20261130_101500_k3vq7a", changed: true, merged: false },
    },
  ],
  cli: { command: "update", positional: ["note_id"] },
  async run(params, context) {
    const change = {
      kind: "update" as const,
      noteId: noteId(params.note_id),
      onConflict: params.on_conflict,
      ...given({
        title: params.title,
        content: params.content,
        noteType: params.note_type,
        tags: params.tags && unique(params.tags),
        status: params.status,
        extra: params.extra,
        pinned: params.pinned,
        expiresInHours: params.expires_in_hours,
        ifRevision: params.if_revision,
      }),
    };
    return updateAnswer(await write(change, params, context));
  },
});
