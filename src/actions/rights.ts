/**
 * Who may do what: the table of principals, in one place. Doors say who is calling, this file says
 * whether that caller may; no action decides for itself.
 *
 * @see spec: protocol, section 2
 */
import type { Change, RevisedChange } from "../domain/change.ts";
import { NotesError } from "../domain/errors.ts";
import type { NoteMetadata } from "../domain/note.ts";
import type { Agent, Caller } from "../domain/principal.ts";
import type { NoteThen } from "../notebook/notebook.ts";
import type { Context, Effects } from "./action.ts";

const PERSONS_ONLY: ReadonlySet<string> = new Set([
  "sync.run",
  "daemon.verify",
  "agent.token",
  // Its commits are the person's, with conflicting and manual edits as they lie there.
  "notes.commit",
]);

/** notes.run is seven actions under one name; only these of them read. */
const RUN_READS: ReadonlySet<unknown> = new Set(["read", "search", "list", "summary"]);

type Called = { readonly name: string; readonly effects: Effects };

/** What this call of an action does: for notes.run its parameters decide. */
export function effectsOf(action: Called, params: unknown): Effects {
  const run = action.name === "notes.run" && typeof params === "object" && params !== null;
  return run && "action" in params && RUN_READS.has(params.action) ? "read" : action.effects;
}

const forbidden = (message: string, data: Record<string, unknown> = {}) =>
  new NotesError("FORBIDDEN", message, data);

/**
 * Whether the caller may call an action at all.
 *
 * @throws NotesError FORBIDDEN a person's action called by an agent, or a write by a read-only token
 */
export function authoriseCall(
  action: Called,
  params: Readonly<Record<string, unknown>>,
  caller: Caller,
): void {
  const { principal } = caller;
  if (principal.kind === "person") return;
  if (PERSONS_ONLY.has(action.name)) {
    throw forbidden(`${action.name} is for persons; this token is the agent ${principal.name}'s.`);
  }
  if (action.name === "notes.review" && params["mark"] === true) {
    throw forbidden(
      `Only persons have a mark; this token is the agent ${principal.name}'s. Name since instead.`,
    );
  }
  const effects = effectsOf(action, params);
  if (principal.readOnly && (effects === "write" || effects === "destructive")) {
    throw forbidden(
      `The token of agent ${principal.name} is read-only, and ${action.name} writes. Ask for a token that may write.`,
    );
  }
}

/**
 * Whether the caller may make this change to this note, by what the index knows of it.
 * A note that isn't there passes: the write itself says NOT_FOUND, or replays an earlier delete.
 *
 * @param targetAgent  the notebook that the caller named beside the note, if any
 * @throws NotesError FORBIDDEN, or INVALID_PARAMS when a person must name `target_agent_id`
 */
export function authoriseChange(
  change: Change,
  targetAgent: string | number | undefined,
  context: Context,
): void {
  // A restore asks for more than the change itself knows: see `authoriseRestore`.
  if (change.kind === "create" || change.kind === "restore") return;
  const { principal } = context.caller;
  if (principal.kind === "person" && change.kind !== "delete") return;
  const note = context.notebook.metadata(change.noteId);
  if (note === null) return;
  if (targetAgent !== undefined || principal.kind === "person")
    checkTarget(change, note, targetAgent, context);
  if (principal.kind === "agent") authoriseAgent(change, note, principal);
}

const isMemory = (note: NoteMetadata) => note.key !== null;

/** `target_agent_id` counts for agent, thread and person memory only, where a person must name it. */
function checkTarget(
  change: Change,
  note: NoteMetadata,
  target: string | number | undefined,
  context: Context,
): void {
  if (change.kind !== "delete" || !isMemory(note) || note.scope === "workspace") return;
  const problem = (message: string) =>
    new NotesError("INVALID_PARAMS", `notes.delete: target_agent_id ${message}`, {
      issues: [{ path: "target_agent_id", message }],
    });
  if (target === undefined) {
    throw problem(`is needed: this is ${note.scope} memory, so name the agent whose notebook holds it`);
  }
  const ids = context.notebook.agentFilter(target);
  if (ids === "all") throw problem("names one agent, not all");
  if (note.agent_id === null || !ids.includes(note.agent_id)) {
    throw problem("is not the notebook that holds this note");
  }
}

/**
 * Whether the caller may bring this note back: of a deleted one who may delete it, of any other who may change it,
 * its pin and its expiry included where they would change.
 *
 * @throws NotesError FORBIDDEN
 */
export function authoriseRestore(then: NoteThen, { caller: { principal }, notebook }: Context): void {
  if (principal.kind === "person") return;
  const { noteId, metadata: was } = then;
  const now = notebook.metadata(noteId);
  if (now === null || now.note_id !== noteId) {
    // Unreadable then: the restore itself says so.
    if (was !== null) authoriseAgent({ kind: "delete", noteId }, was, principal);
    return;
  }
  authoriseAgent(
    {
      kind: "update",
      noteId,
      onConflict: "fail",
      ...(was !== null && was.pinned !== now.pinned ? { pinned: was.pinned } : {}),
      ...(was !== null && was.expires_at !== now.expires_at ? { expiresInHours: null } : {}),
    },
    now,
    principal,
  );
}

function authoriseAgent(change: RevisedChange, note: NoteMetadata, agent: Agent): void {
  const own = note.agent_id === agent.agentId;
  if (own) return;
  const whose = note.agent_name ?? "a person";
  if (isMemory(note)) {
    if (note.scope === "workspace" && change.kind !== "delete") return;
    throw forbidden(
      `This is memory of ${whose}; ${change.kind === "delete" ? "only who made it or a person deletes it" : "agents change their own"}.`,
    );
  }
  if (change.kind === "delete") {
    throw forbidden(
      `Only ${whose}, who wrote this note, or a person may delete it. Set status to archived instead.`,
    );
  }
  if (change.kind !== "update") return;
  if (change.pinned !== undefined)
    throw forbidden(`Only the author (${whose}) or a person may pin or unpin this note.`);
  if (change.expiresInHours !== undefined) {
    throw forbidden(`Only the author (${whose}) or a person may set when this note expires.`);
  }
}
