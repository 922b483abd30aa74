/** notes.list and notes.summary over the head: newest update first, pages that survive changes in between. */
import { NotesError } from "../domain/errors.ts";
import { type NoteMetadata, SCOPES, STATUSES } from "../domain/note.ts";
import type { HeadState } from "./head-state.ts";
import type { LiveNote } from "./metadata.ts";
import type { Page, Summary, Viewer } from "./note-index.ts";
import { type Sight, sightOf, toLookAt } from "./search/visible.ts";

/** Numbers of the paths of readable notes in sight, newest update first, ties by note id. */
function* newestFirst(head: HeadState, sight: Sight): Generator<number> {
  const sees = sightOf(head, sight);
  const order = toLookAt(head, sight);
  for (let i = order.length - 1; i >= 0; i--) {
    const path = order[i] ?? 0;
    if (sees(path)) yield path;
  }
}

/**
 * One page. The cursor names the last note shown by update and id, so notes that change between two pages
 * neither repeat what was shown nor shift what follows.
 * @throws NotesError INVALID_PARAMS  a cursor that is none of ours
 */
export function listNotes(
  head: HeadState,
  query: Sight & { readonly limit: number; readonly cursor: string | null },
): Page<NoteMetadata> {
  const after = query.cursor === null ? null : readCursor(query.cursor);
  const items: NoteMetadata[] = [];
  let total = 0;
  let last: LiveNote | null = null;
  let more = false;
  for (const path of newestFirst(head, query)) {
    total += 1;
    if (after && !isAfter(head, path, after)) continue;
    if (items.length >= query.limit) {
      more = true;
      continue;
    }
    last = head.at(path);
    if (last) items.push(last.meta);
  }
  return { items, total, nextCursor: more && last ? writeCursor(last) : null };
}

interface Place {
  readonly updatedMs: number;
  readonly id: string;
}

function isAfter(head: HeadState, path: number, place: Place): boolean {
  const updatedMs = head.columns.updatedMs.at(path);
  if (updatedMs !== place.updatedMs) return updatedMs < place.updatedMs;
  return head.idOf(path) > place.id;
}

function writeCursor(note: LiveNote): string {
  return Buffer.from(`l1 ${note.updatedMs} ${note.entry.id}`).toString("base64url");
}

function readCursor(cursor: string): Place {
  const match = /^l1 (-?[0-9]{1,16}) (\S+)$/.exec(Buffer.from(cursor, "base64url").toString());
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new NotesError("INVALID_PARAMS", "The cursor is none of this list's. Leave it out to start anew.", {
      issues: [{ path: "cursor", message: "not a cursor of notes.list" }],
    });
  }
  return { updatedMs: Number(match[1]), id: match[2] };
}

const RECENT = 5;

/** Counts and the newest few of what the viewer sees. @cost one pass over the notes */
export function summarize(head: HeadState, viewer: Viewer, nowMs: number): Summary {
  const { columns, graph } = head;
  const { entries, texts } = graph;
  const types = new Map<number, number>();
  const statuses = new Map<number, number>();
  const scopes = new Map<number, number>();
  const agents = new Map<number, number>();
  const recent: Summary["recent_notes"][number][] = [];
  const blockers: Summary["open_blockers"][number][] = [];
  const blocker = texts.words.find("blocker");
  const open = STATUSES.indexOf("open");
  const word = (number: number) => texts.words.at(number);
  const typeName = (type: number) => (type === 0 ? "general" : word(type));
  let total = 0;
  for (const path of newestFirst(head, { filter: {}, viewer, nowMs })) {
    total += 1;
    const type = entries.typeOf(head.entryOf(path));
    const agent = columns.agentName.at(path);
    count(types, type);
    count(statuses, columns.statusOf(path));
    count(scopes, columns.scopeOf(path));
    if (agent !== 0) count(agents, agent);
    const isBlocker = type !== 0 && type === blocker && columns.statusOf(path) === open;
    if (recent.length >= RECENT && !isBlocker) continue;
    const shown = {
      note_id: head.idOf(path),
      title: texts.words.at(entries.titleOf(head.entryOf(path))),
      updated_at: new Date(columns.updatedMs.at(path)).toISOString(),
    };
    if (recent.length < RECENT) recent.push({ ...shown, type: typeName(type) });
    if (isBlocker) blockers.push(shown);
  }
  return {
    total_notes: total,
    type_distribution: named(types, typeName),
    recent_notes: recent,
    by_status: named(statuses, (status) => STATUSES[status]),
    by_scope: named(scopes, (scope) => SCOPES[scope]),
    by_agent: named(agents, word),
    open_blockers: blockers,
  };
}

function named(
  counts: ReadonlyMap<number, number>,
  nameOf: (number: number) => string | undefined,
): Record<string, number> {
  return Object.fromEntries([...counts].map(([number, count]) => [nameOf(number) ?? "", count]));
}

function count(counts: Map<number, number>, what: number): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
