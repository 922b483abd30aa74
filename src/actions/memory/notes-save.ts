/** `notes.save`: keep a value under a key; the same key updates it. */
import { z } from "zod";
import { Scope } from "../../domain/note.ts";
import { defineAction } from "../action.ts";
import { ExpiresInHours, WriteInputs } from "../inputs.ts";
import { ReplayFields, replayOf, WRITE_ERRORS, write } from "../write.ts";
import { MemoryNames, memoryNamed } from "./memory-inputs.ts";

export const SaveOutput = z.strictObject({
  note_id: z.string(),
  path: z.string().nullable().optional().describe("Of a replayed request only."),
  key: z.string().optional(),
  scope: Scope.optional(),
  created: z.boolean().optional().describe("False: there was one, and it holds this value now."),
  revision: z.string().nullable(),
  commit: z.string(),
  ...ReplayFields,
});

export const SAVE_ERRORS = ["CONFLICT", "INVALID_NOTE", ...WRITE_ERRORS] as const;

export const notesSave = defineAction({
  name: "notes.save",
  effects: "write",
  summary: "Keep a value in memory under a key; the same key updates it.",
  description:
    "Save a fact for later under a key. The same key, scope, scope_ref_id and notebook is the same memory: it gets this value, pin and expiry, and what is left out is off. Scope agent is your own, workspace is everyone's. notes.recall gives it back. For documents with a type and a status use notes.create.",
  input: z.strictObject({
    key: MemoryNames.key,
    value: z.string().describe("The text to keep, byte for byte."),
    scope: MemoryNames.scope,
    scope_ref_id: MemoryNames.scope_ref_id,
    target_agent_id: MemoryNames.target_agent_id,
    pinned: z.boolean().default(false).describe("Pinned memory comes first in recall."),
    expires_in_hours: ExpiresInHours.nullable()
      .optional()
      .describe("Hours from now; left out: it stays. Not for workspace memory that another made."),
    ...WriteInputs,
  }),
  output: SaveOutput,
  errors: SAVE_ERRORS,
  examples: [
    {
      name: "How the tests are run",
      params: { key: "test command", value: "npm test -- --run", scope: "workspace" },
      result: { key: "test command", scope: "workspace", created: true },
    },
    {
      name: "A note to oneself about a thread",
      params: { key: "tone", value: "Short answers, no tables.", scope: "thread", scope_ref_id: "T-812" },
      result: { key: "tone", scope: "thread", created: true },
    },
  ],
  cli: { command: "save", positional: ["key", "value"] },
  async run(params, context) {
    const memory = memoryNamed("notes.save", params, context);
    const { value, pinned } = params;
    const outcome = await write(
      { kind: "save", ...memory, value, pinned, expiresInHours: params.expires_in_hours ?? null },
      params,
      context,
    );
    if (outcome.replayed) return replayOf(outcome);
    const { noteId: note_id, created, revision, commit } = outcome;
    return { note_id, key: memory.key, scope: memory.scope, created, revision, commit };
  },
});
