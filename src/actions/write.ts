/**
 * From an action's parameters to one write: rights, idempotency, and the answer of a replayed request.
 * What the write does to the file is the notebook's.
 */
import { z } from "zod";
import type { Change, WriteRequest } from "../domain/change.ts";
import { type ErrorCode, NotesError } from "../domain/errors.ts";
import { nearest } from "../lib/nearest.ts";
import type { WriteOutcome } from "../notebook/notebook.ts";
import type { Context } from "./action.ts";
import { permitChange } from "./rights.ts";

/** What any write may end in. */
export const WRITE_ERRORS = [
  "INVALID_PARAMS",
  "FORBIDDEN",
  "TOO_LARGE",
  "IDEMPOTENCY_MISMATCH",
  "OVERLOADED",
  "SECRET_REFUSED",
  "REPO_BUSY",
  "STORAGE",
] as const satisfies readonly ErrorCode[];

interface WriteParams {
  readonly reason?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly target_agent_id?: string | number | undefined;
}

/**
 * Carry out one change on behalf of the caller.
 *
 * @param permit  who may, where more than the change itself decides that
 * @returns after the commit is durable
 * @throws NotesError FORBIDDEN, INVALID_PARAMS, and whatever the notebook refuses
 */
export async function write(
  change: Change,
  params: WriteParams,
  context: Context,
  permit?: WriteRequest["permit"],
): Promise<WriteOutcome> {
  const before = replayed(params, context);
  if (before !== null) return before;
  if ("noteType" in change && change.noteType !== undefined) checkType(change.noteType, context);
  const request: WriteRequest = {
    change,
    permit: permit ?? permitChange(change, params.target_agent_id, context),
    reason: params.reason ?? null,
    idempotency: idempotencyOf(params, context),
  };
  return context.notebook.write(request, context.caller, context.entered);
}

const idempotencyOf = ({ idempotency_key: key }: WriteParams, { requestHash: hash }: Context) =>
  key === undefined || hash === null ? null : { key, hash };

/**
 * What this very request did when it was carried out before; null: it was not. `write` asks by itself; an action
 * that looks anything up before it writes asks first, for that may have changed since.
 * @throws NotesError IDEMPOTENCY_MISMATCH
 */
export function replayed(params: WriteParams, context: Context): WriteOutcome | null {
  const idempotency = idempotencyOf(params, context);
  return idempotency && context.notebook.replay(idempotency, context.caller);
}

function checkType(type: string, { notebook }: Context): void {
  if (Object.hasOwn(notebook.types, type)) return;
  const known = Object.keys(notebook.types);
  const near = nearest(type, known);
  const message = `is not a type of this notebook; it has ${known.join(", ")}`;
  throw new NotesError("INVALID_PARAMS", `note_type ${message}.`, {
    issues: [{ path: "note_type", message }],
    ...(near === null ? {} : { did_you_mean: near }),
  });
}

/** What only the answer to a replayed request has. */
export const ReplayFields = {
  replayed: z.literal(true).optional().describe("This key was used before; nothing was written again."),
} as const;

/** The whole answer to a replayed request; after a delete, path and revision are null. */
export function replayOf(outcome: WriteOutcome) {
  const { noteId, path, revision, commit } = outcome;
  return { note_id: noteId, path, revision, commit, replayed: true as const };
}

/** What update, append and edit answer. */
export const UpdateOutput = z.strictObject({
  note_id: z.string(),
  path: z.string().nullable().optional().describe("Of a replayed request only."),
  revision: z.string().nullable(),
  commit: z.string(),
  updated_at: z.string().optional(),
  changed: z.boolean().optional().describe("False: the note's bytes were the same already."),
  merged: z.boolean().optional().describe("True: another change since if_revision was merged in."),
  ...ReplayFields,
});

/** Answer of an update, append or edit. */
export function updateAnswer(outcome: WriteOutcome): z.input<typeof UpdateOutput> {
  if (outcome.replayed) return replayOf(outcome);
  return {
    note_id: outcome.noteId,
    revision: outcome.revision,
    commit: outcome.commit,
    updated_at: outcome.updatedAt,
    changed: outcome.changed,
    merged: outcome.merged,
  };
}
