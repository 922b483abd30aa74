/** Filters as callers write them, and as the index wants them: names, times and agents resolved. */
import { z } from "zod";
import { Filters, type NoteFilter } from "../domain/filters.ts";
import type { Caller } from "../domain/principal.ts";
import type { Viewer } from "../index/note-index.ts";
import type { Context } from "./action.ts";

/** The parameters of every filtered action. */
export const FilterInputs = {
  ...Filters,
  extra: z
    .record(z.string().min(1).max(128), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("Front-matter keys with the values they must have; also as extra.KEY."),
} as const;

type FilterParams = z.output<z.ZodObject<typeof FilterInputs>>;

export const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? value : [value as T];

/**
 * Resolve filters.
 *
 * @throws NotesError INVALID_PARAMS a time or an agent that is none; UNKNOWN_COMMIT
 */
export async function toFilter(params: FilterParams, context: Context): Promise<NoteFilter> {
  const { notebook, caller } = context;
  const momentMs = async (name: "since" | "until") => {
    const text = params[name];
    return text === undefined ? undefined : (await notebook.moment(text, caller, name)).atMs;
  };
  const [sinceMs, untilMs] = [await momentMs("since"), await momentMs("until")];
  const extra = Object.entries(params.extra ?? {}).map(([key, value]) => [key, String(value)]);
  return given({
    types: params.note_type === undefined ? undefined : listOf(params.note_type),
    tags: params.tags === undefined ? undefined : listOf(params.tags),
    status: params.status,
    scope: params.scope === "global" ? ("agent" as const) : params.scope,
    scopeRefId: params.scope_ref_id?.normalize("NFC"),
    agentIds: params.filter_agent_id === undefined ? undefined : notebook.agentFilter(params.filter_agent_id),
    minTrust: params.min_trust,
    extra: extra.length === 0 ? undefined : Object.fromEntries(extra),
    sinceMs,
    untilMs,
  });
}

/** Whose notebooks the caller sees without a filter. */
export function viewerOf({ principal }: Caller): Viewer {
  return principal.kind === "person" ? { kind: "person" } : { kind: "agent", agentId: principal.agentId };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are not undefined. */
export function given<T extends object>(members: T): Given<T> {
  // The entries that are left are exactly the members of Given<T>.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
}
