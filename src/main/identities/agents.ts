/**
 * The agents of one repository and their tokens, in `agents.json`. Invariant: one agent id is one folded name; a clash
 * of two names is refused, not shared, and a revoked name stays, so that its id is never another's.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { keptTokenFile, REVOKED } from "../../client/discover.ts";
import { NotesError } from "../../domain/errors.ts";
import { agentIdOf, foldAgentName, parseAgentName, parseAgentRef } from "../../domain/identity.ts";
import type { AgentToken, AgentWish, Identities as KeptIdentities } from "../../doors/cli/host.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import {
  type AgentEntry,
  AgentsFile,
  type Alone,
  changeIdentities,
  newToken,
  readIdentities,
  type ShowToken,
  tokenHash,
  withoutToken,
} from "./identity-files.ts";

export interface Agents extends Pick<KeptIdentities, "addAgent" | "agents" | "revokeAgent" | "rotateAgent"> {
  readonly file: string;
  read(): readonly AgentEntry[];
  /** As `addAgent` for a use of the name alone. @throws NotesError FORBIDDEN the agent was revoked */
  useAgent(wish: AgentWish): Promise<AgentToken>;
}

const hasToken = ({ tokens }: AgentEntry) => tokens.length > 0;

/**
 * @param folder `<gitdir>/notesd`
 * @param at     ISO time
 * @param shown  makes the shower of tokens, with what is known of their use
 * @param alone  makes a change while no other is made
 */
export function openAgents(folder: string, at: () => string, shown: () => ShowToken, alone: Alone): Agents {
  const file = join(folder, "agents.json");
  const none: AgentsFile = { agents: [] };
  const read = () => readIdentities(file, AgentsFile, none).agents;
  const change = (changed: (now: readonly AgentEntry[]) => AgentEntry[]) =>
    alone(() => changeIdentities(file, AgentsFile, none, ({ agents }) => ({ agents: changed(agents) })));

  async function addToken({ name: given, mcp, readOnly }: AgentWish, revive: boolean): Promise<AgentToken> {
    const name = parseAgentName(given);
    const agentId = agentIdOf(name);
    const token = newToken();
    const entry = { hash: tokenHash(token), read_only: readOnly, mcp, created_at: at() };
    let first = name;
    await change((agents) => {
      const known = agents.find((agent) => agent.agent_id === agentId);
      if (!known) return [...agents, { name, agent_id: agentId, tokens: [entry] }];
      if (foldAgentName(known.name) !== foldAgentName(name)) throw clash(known.name, agentId);
      if (known.revoked && !revive) throw revoked(known.name);
      first = known.name;
      const { revoked: _, ...rest } = known;
      return agents.map((agent) => (agent === known ? { ...rest, tokens: [...known.tokens, entry] } : agent));
    });
    return { agent: first, agent_id: agentId, token };
  }

  /** Change the one that is meant. @throws NotesError NOT_FOUND none is, or it isn't `fits` */
  async function changeOne(
    ref: string,
    fits: (agent: AgentEntry) => boolean,
    changed: (agent: AgentEntry) => AgentEntry,
  ): Promise<{ agent: string; agent_id: number }> {
    const wanted = parseAgentRef(ref, "agent");
    const { agents } = await change((all) => {
      const found = all.find((agent) => agent.agent_id === wanted && fits(agent));
      if (!found) throw unknown(ref);
      return all.map((agent) => (agent === found ? changed(agent) : agent));
    });
    const after = agents.find((agent) => agent.agent_id === wanted);
    if (!after) throw unknown(ref);
    dropKept(folder, after);
    return { agent: after.name, agent_id: after.agent_id };
  }

  return {
    file,
    read,
    addAgent: (wish) => addToken(wish, true),
    useAgent: (wish) => addToken(wish, false),
    agents() {
      const show = shown();
      return read().map(({ name, agent_id, revoked: gone = false, tokens }) => ({
        agent: name,
        agent_id,
        tokens: tokens.length,
        read_only: tokens.length > 0 && tokens.every((token) => token.read_only),
        revoked: gone,
        created_at: tokens[0]?.created_at ?? null,
        token_list: tokens.map((token) => ({
          ...show(token),
          read_only: token.read_only,
          mcp: token.mcp,
        })),
      }));
    },
    async revokeAgent(ref, id) {
      if (id !== undefined)
        return changeOne(ref, hasToken, (agent) => ({ ...agent, tokens: withoutToken(agent.tokens, id) }));
      const stands = (agent: AgentEntry) => !agent.revoked;
      return changeOne(ref, stands, (agent) => ({ ...agent, revoked: true as const, tokens: [] }));
    },
    async rotateAgent(ref) {
      const token = newToken();
      const entry = { hash: tokenHash(token), created_at: at() };
      const rotated = await changeOne(ref, hasToken, (agent) => {
        const read_only = agent.tokens.every((old) => old.read_only);
        return { ...agent, tokens: [{ ...entry, read_only, mcp: agent.tokens.every((old) => old.mcp) }] };
      });
      return { ...rotated, token };
    },
  };
}

/** What the command line and the client keep of an agent goes with its token. */
function dropKept(folder: string, { name, tokens }: AgentEntry): void {
  const file = keptTokenFile(folder, name);
  const kept = orAbsent(() => readFileSync(file, "utf8").trim());
  if (kept === null || tokens.some(({ hash }) => hash === tokenHash(kept))) return;
  rmSync(file, { force: true });
}

const clash = (name: string, agentId: number) =>
  new NotesError(
    "CONFLICT",
    `The name has the agent id ${agentId} of ${JSON.stringify(name)}. Choose another name.`,
    { reason: "agent_id_taken", agent_id: agentId },
  );

const revoked = (name: string) =>
  new NotesError(
    "FORBIDDEN",
    `The agent ${JSON.stringify(name)} was revoked. notesd agent add brings it back.`,
    {
      reason: REVOKED,
    },
  );

const unknown = (ref: string) =>
  new NotesError(
    "NOT_FOUND",
    `No agent ${JSON.stringify(ref.slice(0, 80))} has a token. See: notesd agent list`,
  );
