/** Who each token is, by its hash: read from the two files of identities, and again whenever one of them is another. */
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
}

/** Nothing is read before it is asked for. */
export function tokenTable({ agentsFile, personsFile, agents, persons }: Sources): TokenTable {
  let seen = "";
  let table = new Map<string, Row>();
  const stampOf = (file: string) => {
    const s = orAbsent(() => statSync(file, { bigint: true }));
    return s ? `${s.ino}:${s.size}:${s.mtimeNs}` : "-";
  };
  const stamp = () => `${stampOf(agentsFile)} ${stampOf(personsFile)}`;
  return {
    stamp,
    rows() {
      const now = stamp();
      if (now === seen) return table;
      const next = new Map<string, Row>();
      for (const { name, email, owner, tokens } of persons()) {
        const principal: Person = { kind: "person", name, email, ...(owner ? { owner: true } : {}) };
        for (const { hash } of tokens) next.set(hash, { hash, principal });
      }
      for (const { name, agent_id, tokens } of agents()) {
        for (const { hash, read_only, mcp } of tokens) {
          const principal: Agent = { kind: "agent", name, agentId: agent_id, readOnly: read_only, mcp };
          next.set(hash, { hash, principal });
        }
      }
      table = next;
      seen = now;
      return table;
    },
  };
}
