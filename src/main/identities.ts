/**
 * Persons and agents of one repository: adding, listing, revoking, and who a token is.
 * Invariant: one agent id is one folded name; a clash of two names is refused, not shared.
 *
 * @see spec: protocol, section 2
 */
import { timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { REVOKED } from "../client/discover.ts";
import { NotesError } from "../domain/errors.ts";
import { agentIdOf, foldAgentName, parseAgentName, parseAgentRef } from "../domain/identity.ts";
import type { Agent, Person, Principal } from "../domain/principal.ts";
import type { AgentToken, AgentWish, Identities as KeptIdentities } from "../doors/cli/host.ts";
import { orAbsent, writeDurablySync } from "../lib/durable-file.ts";
import {
  AgentsFile,
  changeIdentities,
  newToken,
  PersonsFile,
  readIdentities,
  tokenHash,
} from "./identity-files.ts";

/** What the command line asks, and what the daemon asks beside it. */
export interface Identities extends KeptIdentities {
  /** Who a token is; null for no one's. Changes by other processes are seen at once. @cost two stat calls */
  authenticate(token: string): Principal | null;
  /** As `addAgent` for a use of the name alone. @throws NotesError FORBIDDEN the agent was revoked */
  useAgent(wish: AgentWish): AgentToken;
  /** Make sure that the file `token` names the owner, who is `person` from now on. @returns its token */
  ownerToken(person: { name: string; email: string }): string;
}

/**
 * @param folder `<gitdir>/notesd`
 * @param now    milliseconds since the epoch
 */
export function openIdentities(folder: string, now: () => number): Identities {
  const agentsFile = join(folder, "agents.json");
  const personsFile = join(folder, "persons.json");
  const readAgents = () => readIdentities(agentsFile, AgentsFile, { agents: [] }).agents;
  const readPersons = () => readIdentities(personsFile, PersonsFile, { persons: [] }).persons;
  const changeAgents = (change: (now: AgentsFile["agents"]) => AgentsFile["agents"]) =>
    changeIdentities(agentsFile, AgentsFile, { agents: [] }, ({ agents }) => ({ agents: change(agents) }));
  const changePersons = (change: (now: PersonsFile["persons"]) => PersonsFile["persons"]) =>
    changeIdentities(personsFile, PersonsFile, { persons: [] }, (all) => ({ persons: change(all.persons) }));
  const at = () => new Date(now()).toISOString();
  const byHash = hashTable(agentsFile, personsFile, readAgents, readPersons);

  function addToken({ name: given, mcp, readOnly }: AgentWish, revive: boolean): AgentToken {
    const name = parseAgentName(given);
    const agentId = agentIdOf(name);
    const token = newToken();
    const entry = { hash: tokenHash(token), read_only: readOnly, mcp, created_at: at() };
    let shown = name;
    changeAgents((agents) => {
      const known = agents.find((agent) => agent.agent_id === agentId);
      if (!known) return [...agents, { name, agent_id: agentId, tokens: [entry] }];
      if (foldAgentName(known.name) !== foldAgentName(name)) throw clash(known.name, agentId);
      if (known.revoked && !revive) throw revoked(known.name);
      shown = known.name;
      const { revoked: _, ...rest } = known;
      return agents.map((agent) => (agent === known ? { ...rest, tokens: [...known.tokens, entry] } : agent));
    });
    return { agent: shown, agent_id: agentId, token };
  }

  return {
    authenticate(token) {
      const hash = tokenHash(token);
      const found = byHash().get(hash);
      return found && timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash)) ? found.principal : null;
    },
    addAgent: (request) => addToken(request, true),
    useAgent: (request) => addToken(request, false),
    agents: () =>
      readAgents().map(({ name, agent_id, tokens }) => ({
        agent: name,
        agent_id,
        tokens: tokens.length,
        read_only: tokens.length > 0 && tokens.every((token) => token.read_only),
        created_at: tokens[0]?.created_at ?? null,
      })),
    revokeAgent(ref) {
      const wanted = parseAgentRef(ref, "agent");
      const found = readAgents().find((agent) => agent.agent_id === wanted && agent.tokens.length > 0);
      if (!found) {
        throw new NotesError(
          "NOT_FOUND",
          `No agent ${JSON.stringify(ref)} has a token. See: notesd agent list`,
        );
      }
      // The name stays, so that its id is never another name's.
      changeAgents((all) =>
        all.map((agent) =>
          agent.agent_id === wanted ? { ...agent, revoked: true as const, tokens: [] } : agent,
        ),
      );
      return { agent: found.name, agent_id: found.agent_id };
    },
    addPerson(person) {
      const { name, email } = parsePerson(person);
      const token = newToken();
      const entry = { hash: tokenHash(token), created_at: at() };
      changePersons((persons) => {
        const known = persons.find((other) => other.email === email && !other.owner);
        if (!known) return [...persons, { name, email, owner: false, tokens: [entry] }];
        return persons.map((other) =>
          other === known ? { ...known, name, tokens: [...known.tokens, entry] } : other,
        );
      });
      return { name, email, token };
    },
    persons: () =>
      readPersons().map(({ name, email, owner, tokens }) => ({ name, email, owner, tokens: tokens.length })),
    revokePerson(ref) {
      const found = readPersons().find((p) => !p.owner && (p.email === ref || p.name === ref));
      if (!found) {
        throw new NotesError(
          "NOT_FOUND",
          `No person ${JSON.stringify(ref)} was added. See: notesd person list`,
        );
      }
      changePersons((persons) => persons.filter((p) => p.owner || p.email !== found.email));
      return { name: found.name, email: found.email };
    },
    ownerToken(person) {
      const file = join(folder, "token");
      const kept = orAbsent(() => readFileSync(file, "utf8").trim()) ?? "";
      const token = kept === "" ? newToken() : kept;
      const owner = readPersons().find((p) => p.owner);
      const hash = tokenHash(token);
      if (owner?.tokens[0]?.hash !== hash || owner.name !== person.name || owner.email !== person.email) {
        const entry = { ...person, owner: true, tokens: [{ hash, created_at: at() }] };
        changePersons((persons) => [entry, ...persons.filter((p) => !p.owner)]);
      }
      if (kept === "") writeDurablySync(file, `${token}\n`, { mode: 0o600 });
      return token;
    },
  };
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

/** Principals by token hash, read again whenever one of the files is another than before. */
function hashTable(
  agentsFile: string,
  personsFile: string,
  readAgents: () => AgentsFile["agents"],
  readPersons: () => PersonsFile["persons"],
) {
  let seen = "";
  let table = new Map<string, { hash: string; principal: Principal }>();
  const stamp = (file: string) => {
    const s = orAbsent(() => statSync(file, { bigint: true }));
    return s ? `${s.ino}:${s.size}:${s.mtimeNs}` : "-";
  };
  return () => {
    const now = `${stamp(agentsFile)} ${stamp(personsFile)}`;
    if (now === seen) return table;
    const next = new Map<string, { hash: string; principal: Principal }>();
    for (const { name, email, owner, tokens } of readPersons()) {
      const principal: Person = { kind: "person", name, email, ...(owner ? { owner: true } : {}) };
      for (const { hash } of tokens) next.set(hash, { hash, principal });
    }
    for (const { name, agent_id, tokens } of readAgents()) {
      for (const { hash, read_only, mcp } of tokens) {
        const principal: Agent = { kind: "agent", name, agentId: agent_id, readOnly: read_only, mcp };
        next.set(hash, { hash, principal });
      }
    }
    table = next;
    seen = now;
    return table;
  };
}

// Git's commit header is a line of `name <email> time`: these would end it early or forge another.
const HEADER_BREAKING = /[<>\p{Cc}\p{Zl}\p{Zp}]/u;

/** @throws NotesError INVALID_PARAMS */
export function parsePerson({ name, email }: { name: string; email: string }): {
  name: string;
  email: string;
} {
  const wrong = (path: string, message: string): never => {
    throw new NotesError("INVALID_PARAMS", `A person's ${path} ${message}.`, { issues: [{ path, message }] });
  };
  const trimmed = name.normalize("NFC").trim();
  if (trimmed === "" || trimmed.length > 200) wrong("name", "has 1 to 200 characters");
  if (HEADER_BREAKING.test(trimmed)) wrong("name", "holds no control character, < or >");
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254 || HEADER_BREAKING.test(email)) {
    wrong("email", "is an address such as pat@example.org");
  }
  return { name: trimmed, email };
}
