/** An action, defined once: every door, the command line, the client and the docs come from this. */
import type { z } from "zod";
import type { ErrorCode } from "../domain/errors.ts";
import type { NoteFilter } from "../domain/filters.ts";
import type { Caller } from "../domain/principal.ts";
import type { Notebook } from "../notebook/notebook.ts";
import type { Sync } from "../notebook/sync/sync-result.ts";
import type { Quota } from "./gate/quota.ts";
import type { Refusal } from "./gate/refusal.ts";

/** What calling an action does; MCP hints and the rights of read-only callers follow from it. */
export type Effects = "read" | "write" | "destructive" | "session";

/** What a stateful door (a WebSocket) offers beside the notebook; absent on HTTP. */
export interface Connection {
  /** Set by session.set, shown as the `Session:` trailer of later commits on this socket. */
  setSession(session: string, task: string | null): void;
  /** Start sending notifications; returns the new subscription's id and cursor. */
  subscribe(filter: NoteFilter, since: string | null): Promise<{ subscription_id: string; cursor: string }>;
  /** @throws NotesError NOT_FOUND the connection has no such subscription */
  unsubscribe(subscriptionId: string): void;
}

/** Facts and powers of the process that some actions need; wired by main. */
export interface Daemon {
  status(): Promise<Record<string, unknown>>;
  /** Make or find an agent and a further token of it. */
  agentToken(request: { name: string; mcp: boolean; readOnly: boolean }): Promise<{
    agent: string;
    agent_id: number;
    token: string;
  }>;
  /** The name of an agent that was made here; null: none has this id. */
  agentName(agentId: number): string | null;
  readonly sync: Sync;
  /** How often each principal may ask. */
  readonly quota: Quota;
  /** Told of each request that was refused, for the log. */
  refused(refusal: Refusal): void;
  openrpc(): unknown;
}

export interface Context {
  readonly notebook: Notebook;
  readonly daemon: Daemon;
  readonly caller: Caller;
  readonly connection: Connection | null;
  /** The action that was called, for words to its caller; `invoke` sets it. */
  readonly method: string;
  /**
   * 64 hex: SHA-256 of the RFC 8785 JSON of `{method, params}` as sent without `idempotency_key`; null
   * when none was sent. `invoke` sets it.
   */
  readonly requestHash: string | null;
  /** Called when a write has its place in the queue of writes; doors that keep an order ask for it. */
  readonly entered?: () => void;
}

interface Example {
  readonly name: string;
  readonly params: Record<string, unknown>;
  /** Members that the result must have; run as a test in the given order. */
  readonly result: unknown;
}

export interface Action<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Name extends string = string,
> {
  /** The JSON-RPC method, e.g. `notes.create`. */
  readonly name: Name;
  readonly effects: Effects;
  /** One line, for tables and help. */
  readonly summary: string;
  /** For models and people: when to use it, what it answers. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly errors: readonly ErrorCode[];
  readonly examples: readonly Example[];
  /** Command-line form: the command's name and which parameters are positional. */
  readonly cli: { readonly command: string; readonly positional: readonly string[] } | null;
  /** Its writes look first at what is there: on a connection they run beside no other request. */
  readonly alone?: true;
  run(input: z.output<Input>, context: Context): Promise<z.input<Output>>;
}

/** Define an action with its types inferred from its schemas. */
export function defineAction<I extends z.ZodType, O extends z.ZodType, const N extends string>(
  action: Action<I, O, N>,
): Action<I, O, N> {
  return action;
}

/** Some action, its own types forgotten: what doors and generators work with. */
export type AnyAction = Action;

/** Actions by method name. */
export type Registry = ReadonlyMap<string, AnyAction>;
