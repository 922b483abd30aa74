/** The filters that list, search, history and subscriptions share: one shape, one predicate. */
import { z } from "zod";
import type { NoteMetadata } from "./note.ts";
import { Scope, Status, TRUSTS, Trust } from "./note.ts";

const oneOrMany = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(64)]);

/**
 * Parameters of every filtered action. `extra.KEY` parameters are gathered into `extra` before parsing.
 * `since` and `until` compare with `updated_at` and are resolved to instants by the notebook.
 */
export const Filters = {
  note_type: oneOrMany.optional().describe("A type, or several of which any matches."),
  tags: oneOrMany.optional().describe("Any of these tags."),
  status: Status.optional().describe("Only notes of this status."),
  scope: z
    .union([Scope, z.literal("global")])
    .optional()
    .describe("Only notes of this scope; global is a deprecated alias of agent."),
  scope_ref_id: z.string().min(1).optional().describe("Which thread or person, for those scopes."),
  filter_agent_id: z
    .union([z.string().min(1), z.number().int().positive()])
    .optional()
    .describe("An agent's name or id; all or * for everyone's notebooks."),
  min_trust: Trust.optional().describe("Only notes last changed by this class or a higher one."),
  since: z.string().min(1).optional().describe("A commit, an ISO time, 7d, 12h, monday or last."),
  until: z.string().min(1).optional().describe("As since."),
} as const;

/** Filters after parsing and resolving, ready for the index. */
export interface NoteFilter {
  readonly types?: readonly string[];
  readonly tags?: readonly string[];
  readonly status?: Status;
  readonly scope?: Scope;
  readonly scopeRefId?: string;
  /** Agent ids whose notebooks match; an empty list matches nothing. Absent: the viewer's default. */
  readonly agentIds?: readonly number[] | "all";
  readonly minTrust?: Trust;
  readonly extra?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch, inclusive. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** Whether a note passes every part of a filter. Notebook visibility (`agentIds` absent) is the caller's. */
export function matches(filter: NoteFilter, note: NoteMetadata): boolean {
  if (filter.types && !filter.types.includes(note.type)) return false;
  if (filter.tags && !filter.tags.some((tag) => note.tags.includes(tag))) return false;
  if (filter.status && note.status !== filter.status) return false;
  if (filter.scope && note.scope !== filter.scope) return false;
  if (filter.scopeRefId !== undefined && note.scope_ref_id !== filter.scopeRefId) return false;
  if (filter.agentIds && filter.agentIds !== "all") {
    if (note.agent_id === null || !filter.agentIds.includes(note.agent_id)) return false;
  }
  if (filter.minTrust && TRUSTS.indexOf(note.trust) > TRUSTS.indexOf(filter.minTrust)) return false;
  for (const [key, wanted] of Object.entries(filter.extra ?? {})) {
    const value = Object.hasOwn(note.extra, key) ? note.extra[key] : undefined;
    if (value === undefined || value === null || typeof value === "object" || String(value) !== wanted) {
      return false;
    }
  }
  if (filter.sinceMs === undefined && filter.untilMs === undefined) return true;
  const updatedMs = Date.parse(note.updated_at);
  if (filter.sinceMs !== undefined && updatedMs < filter.sinceMs) return false;
  if (filter.untilMs !== undefined && updatedMs > filter.untilMs) return false;
  return true;
}
