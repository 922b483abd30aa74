/** Who sees what: the notebooks of a default query, expired notes, hidden keys. One rule for every query. */
import { matches, type NoteFilter } from "../../domain/filters.ts";
import { SCOPES, STATUSES, TRUSTS } from "../../domain/note.ts";
import { taggedWith } from "../entry-table.ts";
import type { HeadState } from "../head-state.ts";
import type { Viewer } from "../note-index.ts";

export interface Sight {
  readonly filter: NoteFilter;
  readonly viewer: Viewer;
  readonly nowMs: number;
  /** What is hidden, and nothing else; absent: the other way round. */
  readonly hidden?: true;
}

const WORKSPACE = SCOPES.indexOf("workspace");

/**
 * Whether a query shows the note at a path's number: it passes the filter, is not expired, has no hidden key
 * (`__…`; or has one, where that is asked for), and, where the filter names no notebook, lies in the viewer's sight: for an agent its own notebook,
 * workspace memory and every typed note; for a person everything.
 *
 * @cost a look at a few columns; a note becomes an object only for a filter by `extra`
 * @see spec: protocol, section 4, "Who sees what"
 */
export function sightOf(head: HeadState, sight: Sight): (path: number) => boolean {
  const { filter, viewer, nowMs, hidden = false } = sight;
  const { columns } = head;
  const passes = filterOf(head, filter);
  const own = filter.agentIds === undefined && viewer.kind === "agent" ? viewer.agentId + 1 : null;
  return (path) => {
    if (columns.expiresMs.at(path) <= nowMs || columns.isHidden(path) !== hidden) return false;
    if (own !== null && columns.hasKey(path) && columns.scopeOf(path) !== WORKSPACE) {
      if (columns.agent.at(path) !== own) return false;
    }
    return passes(path);
  };
}

/**
 * Numbers of the paths among which a query's readable notes are, oldest update first: memory alone where the filter names
 * what only memory has. The order is the state's own, until the next change.
 */
export function toLookAt(head: HeadState, { filter, viewer }: Sight): Uint32Array {
  const { scope, scopeRefId } = filter;
  const isMemorys = scopeRefId !== undefined || (scope !== undefined && scope !== "workspace");
  return isMemorys ? head.memories.inNotebooks(filter, viewer) : head.inOrder();
}

/** `matches` over columns: what the filter names is looked up once, not for each note. */
function filterOf(head: HeadState, filter: NoteFilter): (path: number) => boolean {
  const { columns, graph } = head;
  const { entries, texts } = graph;
  const types =
    filter.types && new Set(filter.types.flatMap((type) => typeNumbers(texts.words.find(type), type)));
  const tagged = taggedWith(entries, filter.tags);
  const status = filter.status && STATUSES.indexOf(filter.status);
  const scope = filter.scope && SCOPES.indexOf(filter.scope);
  const ref = filter.scopeRefId === undefined ? undefined : texts.words.find(filter.scopeRefId);
  const agents =
    filter.agentIds === undefined || filter.agentIds === "all"
      ? undefined
      : new Set(filter.agentIds.map((id) => id + 1));
  const minTrust = filter.minTrust && TRUSTS.indexOf(filter.minTrust);
  const extra = filter.extra && Object.keys(filter.extra).length > 0 ? filter.extra : undefined;
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = filter;
  return (path) => {
    const entry = head.entryOf(path);
    if (types && !types.has(entries.typeOf(entry))) return false;
    if (tagged && !tagged(entries.tagsOf(entry))) return false;
    if (status !== undefined && columns.statusOf(path) !== status) return false;
    if (scope !== undefined && columns.scopeOf(path) !== scope) return false;
    if (ref !== undefined && (ref === 0 || columns.ref.at(path) !== ref)) return false;
    if (agents && (columns.agent.at(path) === 0 || !agents.has(columns.agent.at(path)))) return false;
    if (minTrust !== undefined && entries.trustOf(entry) > minTrust) return false;
    const updatedMs = columns.updatedMs.at(path);
    if (updatedMs < sinceMs || updatedMs > untilMs) return false;
    if (extra === undefined) return true;
    const note = columns.hasExtra(path) ? head.at(path) : null;
    return note !== null && matches({ extra }, note.meta);
  };
}

/** A file that can't be read as a note has no type and is shown as a general one. */
const typeNumbers = (number: number, type: string) => [
  ...(number === 0 ? [] : [number]),
  ...(type === "general" ? [0] : []),
];
