/** Call actions over a fake notebook, each result held to its schema. */
import type { Daemon } from "../../src/actions/action.ts";
import type { CallContext } from "../../src/actions/invoke.ts";
import { invoke } from "../../src/actions/invoke.ts";
import { registry } from "../../src/actions/registry.ts";
import type { NotesError } from "../../src/domain/errors.ts";
import { agentIdOf } from "../../src/domain/identity.ts";
import type { Agent, Person, Principal } from "../../src/domain/principal.ts";
import type { Notebook } from "../../src/notebook/notebook.ts";
import type { Sync, SyncResult } from "../../src/notebook/sync/sync-result.ts";
import { FakeNotebook } from "./fake-notebook.ts";

export const ada: Person = { kind: "person", name: "Ada", email: "ada@example.org" };
const agentCalled = (name: string, readOnly = false): Agent => ({
  kind: "agent",
  name,
  agentId: agentIdOf(name),
  readOnly,
  mcp: false,
});
export const planner = agentCalled("planner");
export const coder = agentCalled("coder");
export const reader = agentCalled("reader", true);

const LEVEL: SyncResult = {
  ...{ remote: "origin", state: "ok", ahead: 0, behind: 0, pulled: 0, pushed: 0, conflicts: 0 },
  ...{ head: null, message: null, at: null },
};
/** A remote that is always level. */
export const fakeSync: Sync = { run: async () => LEVEL, status: async () => LEVEL };

/** What a test gives to look at who is refused and who asks how often. */
export type Gate = Pick<Daemon, "quota" | "refused">;
const OPEN_GATE: Gate = { quota: { enter: () => () => {} }, refused: () => {} };

export function contextOf(
  notebook: Notebook,
  principal: Principal = planner,
  gate: Partial<Gate> = {},
): CallContext {
  return {
    notebook,
    daemon: {
      status: async () => ({ version: "0.1.0", protocol: 1, uptime_s: 1 }),
      agentName: (id) => [planner, coder, reader].find((agent) => agent.agentId === id)?.name ?? null,
      sync: fakeSync,
      agentToken: async ({ name }) => ({ agent: name, agent_id: 57, token: "t".repeat(43) }),
      openrpc: () => ({ openrpc: "1.3.2" }),
      ...OPEN_GATE,
      ...gate,
    },
    caller: { principal, session: null, task: null },
    connection: null,
  };
}

/** A caller bound to one notebook. `fails` gives the error that a call must end in. */
export function caller(
  notebook: Notebook = new FakeNotebook(),
  principal: Principal = planner,
  gate: Partial<Gate> = {},
) {
  const call = (method: string, params: unknown = {}): Promise<Record<string, unknown>> =>
    // Results of the actions called here are records; each is held to its own schema.
    invoke(registry, { method, params }, contextOf(notebook, principal, gate), {
      checkOutput: true,
    }) as Promise<Record<string, unknown>>;
  const fails = async (method: string, params: unknown = {}): Promise<NotesError> => {
    try {
      await call(method, params);
    } catch (error) {
      // Anything else than a NotesError shows itself in the assertions on its code.
      return error as NotesError;
    }
    throw new Error(`${method} succeeded`);
  };
  return { call, fails };
}
