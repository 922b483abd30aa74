/**
 * Persons and agents of one repository, and who a token is. What each of them has is `agents.ts` and `persons.ts`.
 * Invariant: of a token only its hash is kept, and one that was revoked is nobody's at the next look, whichever process
 * revoked it.
 *
 * @see spec: protocol, section 2
 */
import { timingSafeEqual } from "node:crypto";
import type { Principal } from "../../domain/principal.ts";
import type { Identities as KeptIdentities } from "../../doors/cli/host.ts";
import { type Agents, openAgents } from "./agents.ts";
import { alone, type ShowToken, tokenHash, tokenId } from "./identity-files.ts";
import { openLastUsed } from "./last-used.ts";
import { openPersons, type Persons } from "./persons.ts";
import { tokenTable } from "./token-table.ts";

/** What the command line asks, and what the daemon asks beside it. */
export interface Identities extends KeptIdentities, Pick<Agents, "useAgent">, Pick<Persons, "ownerToken"> {
  /** Who a token is; null for no one's. Changes by other processes are seen at once. @cost two stat calls */
  authenticate(token: string): Principal | null;
  /** The name of an agent that was made here, also of one without a token; null: none has this id. @cost two stat calls */
  agentName(agentId: number): string | null;
  /** Another text whenever a token was made or ended, by whatever process. @cost two stat calls */
  tokensAt(): string;
  /** Keep when tokens were last used; what is not kept is lost with the process. */
  flush(): Promise<void>;
}

/**
 * @param folder `<gitdir>/notesd`
 * @param now    milliseconds since the epoch
 * @param lockWaitMs  how long a change waits for others
 */
export function openIdentities(folder: string, now: () => number, lockWaitMs?: number): Identities {
  const used = openLastUsed(folder, now);
  const at = () => new Date(now()).toISOString();
  const shown = (): ShowToken => {
    const kept = used.kept();
    return ({ hash, created_at }) => {
      const id = tokenId(hash);
      return { id, created_at, last_used_at: kept.get(id) ?? null };
    };
  };
  const change = alone(folder, lockWaitMs);
  const agents = openAgents(folder, at, shown, change);
  const persons = openPersons(folder, at, shown, change);
  const table = tokenTable({
    agentsFile: agents.file,
    personsFile: persons.file,
    agents: agents.read,
    persons: persons.read,
  });
  const { file: _agentsFile, read: _agents, ...ofAgents } = agents;
  const { file: _personsFile, read: _persons, ...ofPersons } = persons;
  return {
    ...ofAgents,
    ...ofPersons,
    authenticate(token) {
      const hash = tokenHash(token);
      const found = table.rows().get(hash);
      if (!found || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
      used.note(tokenId(hash));
      return found.principal;
    },
    agentName: table.agentName,
    tokensAt: table.stamp,
    flush: () => used.flush([...table.rows().keys()].map(tokenId)),
  };
}
