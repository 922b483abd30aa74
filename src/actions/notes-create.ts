/** `notes.create`: a new typed note. */
import { z } from "zod";
import { defineAction } from "./action.ts";
import { Content, ExpiresInHours, Extra, NoteType, Tags, Title, unique, WriteInputs } from "./inputs.ts";
import { ReplayFields, replayOf, WRITE_ERRORS, write } from "./write.ts";

export const notesCreate = defineAction({
  name: "notes.create",
  effects: "write",
  summary: "Create a typed note.",
  description:
    "Write a new note: a blocker, an action, a task's state, a conclusion, a reference or a general note. The answer comes after its commit is durable; keep note_id and revision for later changes.",
  input: z.strictObject({
    title: Title,
    content: Content,
    note_type: NoteType.default("general"),
    tags: Tags.default([]),
    extra: Extra.optional(),
    pinned: z.boolean().default(false).describe("Pinned notes come first in context."),
    expires_in_hours: ExpiresInHours.nullable().optional().describe("Hours from now; null: never."),
    folder: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe("A folder inside a root, not in memory; default: by day."),
    ...WriteInputs,
  }),
  output: z.strictObject({
    note_id: z.string(),
    path: z.string().nullable(),
    revision: z.string().nullable(),
    commit: z.string(),
    created_at: z.string().optional(),
    ...ReplayFields,
  }),
  errors: WRITE_ERRORS,
  examples: [
    {
      name: "A blocker with tags",
      params: {
        title: "Login returns 500: refresh token",
        content: "The refresh token is read before the migration ran.\n",
        note_type: "blocker",
        tags: ["auth", "urgent"],
        reason: "Found while testing the release",
      },
      result: {},
    },
  ],
  cli: { command: "create", positional: ["title", "content"] },
  async run(params, context) {
    const outcome = await write(
      {
        kind: "create",
        title: params.title,
        content: params.content,
        noteType: params.note_type,
        tags: unique(params.tags),
        extra: params.extra ?? {},
        pinned: params.pinned,
        expiresInHours: params.expires_in_hours ?? null,
        folder: params.folder ?? null,
      },
      params,
      context,
    );
    if (outcome.replayed) return replayOf(outcome);
    return {
      note_id: outcome.noteId,
      path: outcome.path,
      revision: outcome.revision,
      commit: outcome.commit,
      created_at: outcome.createdAt,
    };
  },
});
