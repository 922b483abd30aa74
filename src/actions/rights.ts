/**
 * Who may do what: the table of principals, in one place. Doors say who is calling, this file says
 * whether that caller may; no action decides for itself. Every refusal names its kind in `data.reason`.
 * Invariant: whose a note is comes from history's proved commits, and of memory from its path, never from what a
 * file says of itself.
 *
 * @see spec: protocol, section 2
 */
import type { Change, Owned, WriteRequest } from "../domain/change.ts";
import { NotesError } from "../domain/errors.ts";
import { agentIdOf, foldAgentName, parseAgentName } from "../domain/identity.ts";
import { escapeSegment, memorySegments, unescapeSegment } from "../domain/note-path.ts";
import type { Agent, Caller, Principal } from "../domain/principal.ts";
import type { NoteThen } from "../notebook/notebook.ts";
import type { Context, Effects } from "./action.ts";
import { invalidParams } from "./issues.ts";

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

/** What this call of an action does: for notes.run and memory.run its parameters decide. */
export function effectsOf({ name, effects }: Called, params: unknown): Effects {
  if (typeof params !== "object" || params === null) return effects;
  const reads =
    (name === "notes.run" && "action" in params && RUN_READS.has(params.action)) ||
    (name === "memory.run" && "command" in params && params.command === "view");
  return reads ? "read" : effects;
}

/** Why somebody may not: `data.reason` of a FORBIDDEN. */
type Why = "persons_only" | "read_only" | "not_author" | "other_memory" | "not_maker";

const forbidden = (reason: Why, message: string) => new NotesError("FORBIDDEN", message, { reason });

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
    throw forbidden(
      "persons_only",
      `${action.name} is for persons; this token is the agent ${principal.name}'s.`,
    );
  }
  if (action.name === "notes.review" && params["mark"] === true) {
    throw forbidden(
      "persons_only",
      `Only persons have a mark; this token is the agent ${principal.name}'s. Name since instead.`,
    );
  }
  const effects = effectsOf(action, params);
  if (principal.readOnly && (effects === "write" || effects === "destructive")) {
    throw forbidden(
      "read_only",
      `The token of agent ${principal.name} is read-only, and ${action.name} writes. Ask for a token that may write.`,
    );
  }
}

/**
 * Whether the caller may make a change, for the writer to ask when it plans it: on the note as it is then, which
 * another request may have made or taken away since this one came.
 *
 * @param target  the notebook that the caller named beside the note, if any
 * @returns throws NotesError FORBIDDEN, or INVALID_PARAMS when a person must name `target_agent_id`
 */
export function permitChange(
  change: Change,
  target: string | number | undefined,
  context: Context,
): NonNullable<WriteRequest["permit"]> {
  const { principal } = context.caller;
  return (now) => {
    if ((change.kind === "save" || change.kind === "move") && change.agent !== null)
      authoriseNotebook(change.agent, principal);
    // The plan itself says that there is none.
    if (now === null) return;
    if (removes(change) && (target !== undefined || principal.kind === "person"))
      checkTarget(now, target, context);
    if (principal.kind === "agent") authoriseAgent(wishOf(change), now, principal);
  };
}

/**
 * As `permitChange` for bringing a note back: of a deleted one who may delete it, of any other who may change it,
 * its pin and its expiry included where they would change.
 */
export function permitRestore(
  { noteId, metadata: was }: NoteThen,
  { caller: { principal } }: Context,
): NonNullable<WriteRequest["permit"]> {
  return (now) => {
    if (principal.kind === "person") return;
    if (now === null || now.note_id !== noteId) {
      // Unreadable then: the restore itself says so.
      if (was !== null) authoriseAgent({ kind: "delete", pins: false, expires: null }, was, principal);
      return;
    }
    const pins = was !== null && was.pinned !== now.pinned;
    const expires =
      was === null || was.expires_at === now.expires_at ? null : was.expires_at === null ? "never" : "then";
    authoriseAgent({ kind: "change", pins, expires }, now, principal);
  };
}

/** What of a change its author alone, or a person, may do. */
interface Wish {
  readonly kind: "delete" | "change";
  readonly pins: boolean;
  /** Whether it says when the note expires: at a time, or never; null: it leaves that. */
  readonly expires: "then" | "never" | null;
}

/** A memory that gets another name is gone from where it was. */
const removes = ({ kind }: Change) => kind === "delete" || kind === "move";

function wishOf(change: Change): Wish {
  const update = change.kind === "update" ? change : null;
  const hours = change.kind === "update" || change.kind === "save" ? change.expiresInHours : undefined;
  return {
    kind: removes(change) ? "delete" : "change",
    pins: update?.pinned !== undefined,
    expires: hours === undefined ? null : hours === null ? "never" : "then",
  };
}

/** `target_agent_id` counts for agent, thread and person memory only, where a person must name it. */
function checkTarget(note: Owned, target: string | number | undefined, context: Context): void {
  const place = memorySegments(note.path);
  if (place === null || place.agent === null) return;
  const problem = (message: string) => invalidParams(context.method, [{ path: "target_agent_id", message }]);
  if (target === undefined) {
    throw problem(`is needed: this is ${place.scope} memory, so name the agent whose notebook holds it`);
  }
  const ids = context.notebook.agentFilter(target);
  if (ids === "all") throw problem("names one agent, not all");
  const name = unescapeSegment(place.agent);
  // A long name is cut in the path; then the file has it, which lies where that name's segment says.
  const holder = name === null ? note.agent_id : agentIdOf(name);
  if (holder === null || !ids.includes(holder)) throw problem("is not the notebook that holds this note");
}

/**
 * Whether the caller may write in this notebook, given by its agent's id or name.
 * @throws NotesError FORBIDDEN an agent names another's
 */
export function authoriseNotebook(agent: number | string, principal: Principal): void {
  if (principal.kind === "person") return;
  const own =
    typeof agent === "number"
      ? agent === principal.agentId
      : foldAgentName(agent) === foldAgentName(principal.name);
  if (own) return;
  throw forbidden(
    "other_memory",
    `That is another agent's notebook; ${principal.name} saves in its own, or with scope workspace.`,
  );
}

/** An agent's part of its memories' paths. */
const segmentOf = ({ name }: Agent) => escapeSegment(foldAgentName(name));

const isOwn = (note: Owned, agent: Agent) =>
  note.agent_id === agent.agentId &&
  note.agent_name !== null &&
  foldAgentName(note.agent_name) === foldAgentName(agent.name);

/** An agent in a message. Paths that were pushed hold any text: what is no name is not repeated. */
function named(agent: string): string {
  try {
    return `the agent ${JSON.stringify(parseAgentName(agent))}`;
  } catch (error) {
    if (error instanceof NotesError) return "another agent";
    throw error;
  }
}

function authoriseAgent(wish: Wish, note: Owned, agent: Agent): void {
  const place = memorySegments(note.path);
  const whose = note.agent_name === null ? "a person" : named(note.agent_name);
  if (place !== null && place.agent !== null) {
    if (place.agent === segmentOf(agent)) return;
    const who = named(unescapeSegment(place.agent) ?? note.agent_name ?? "");
    throw forbidden(
      "other_memory",
      `This is memory of ${who}; ${wish.kind === "delete" ? "only that agent or a person deletes it" : "agents change their own"}.`,
    );
  }
  if (isOwn(note, agent)) return;
  if (place !== null) {
    // Any agent saves workspace memory, with its pin. What expires is gone and its key free, as if it were deleted.
    if (wish.expires === "then") {
      throw forbidden(
        "not_maker",
        `This is memory of the whole workspace that ${whose} made; only who made it or a person sets when it expires. Save it without an expiry, or under another key.`,
      );
    }
    if (wish.kind !== "delete") return;
    throw forbidden(
      "not_maker",
      `This is memory of the whole workspace that ${whose} made; only who made it or a person deletes it.`,
    );
  }
  if (wish.kind === "delete") {
    throw forbidden(
      "not_author",
      `Only ${whose}, who wrote this note, or a person may delete it. Set status to archived instead.`,
    );
  }
  if (wish.pins)
    throw forbidden("not_author", `Only the author (${whose}) or a person may pin or unpin this note.`);
  if (wish.expires) {
    throw forbidden("not_author", `Only the author (${whose}) or a person may set when this note expires.`);
  }
}
