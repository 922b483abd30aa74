/** Who each token is, by its hash, and the names of agents: read from the two files of identities, and again whenever one of them is another. */
import { statSync } from "node:fs";
import type { Agent, Person, Principal } from "../../domain/principal.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import type { AgentEntry, PersonEntry } from "./identity-files.ts";

interface Row {
  readonly hash: string;
  readonly principal: Principal;
}

interface Sources {
  readonly agentsFile: string;
  readonly personsFile: string;
  agents(): readonly AgentEntry[];
  persons(): readonly PersonEntry[];
}

export interface TokenTable {
  /** Changes when a file does. @cost two stat calls */
  stamp(): string;
  /** As the files are now. @cost two stat calls */
  rows(): ReadonlyMap<string, Row>;
  /** The name of an agent that the files have. @cost two stat calls */
  agentName(agentId: number): string | null;
}

/** Nothing is read before it is asked for. */
export function tokenTable({ agentsFile, personsFile, agents, persons }: Sources): TokenTable {
  let seen = "";
  let table: { rows: Map<string, Row>; names: Map<number, string> } = { rows: new Map(), names: new Map() };
  const stampOf = (file: string) => {
    const s = orAbsent(() => statSync(file, { bigint: true }));
    return s ? `${s.ino}:${s.size}:${s.mtimeNs}` : "-";
  };
  const stamp = () => `${stampOf(agentsFile)} ${stampOf(personsFile)}`;
  const current = () => {
    const now = stamp();
    if (now === seen) return table;
    const rows = new Map<string, Row>();
    const names = new Map<number, string>();
    for (const { name, email, owner, tokens } of persons()) {
      const principal: Person = { kind: "person", name, email, ...(owner ? { owner: true } : {}) };
      for (const { hash } of tokens) rows.set(hash, { hash, principal });
    }
    for (const { name, agent_id, tokens } of agents()) {
      names.set(agent_id, name);
      for (const { hash, read_only, mcp } of tokens) {
        const principal: Agent = { kind: "agent", name, agentId: agent_id, readOnly: read_only, mcp };
        rows.set(hash, { hash, principal });
      }
    }
    table = { rows, names };
    seen = now;
    return table;
  };
  return {
    stamp,
    rows: () => current().rows,
    agentName: (agentId) => current().names.get(agentId) ?? null,
  };
}
