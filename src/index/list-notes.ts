/** notes.list and notes.summary over the head: newest update first, pages that survive changes in between. */
import { NotesError } from "../domain/errors.ts";
import type { NoteMetadata } from "../domain/note.ts";
import type { HeadState } from "./head-state.ts";
import type { LiveNote } from "./metadata.ts";
import type { Page, Summary, Viewer } from "./note-index.ts";
import { type Sight, sees } from "./search/visible.ts";

/** Readable notes in sight, newest update first, ties by note id. */
function* newestFirst(head: HeadState, sight: Sight): Generator<LiveNote> {
  const order = head.inOrder();
  for (let i = order.length - 1; i >= 0; i--) {
    const note = order[i];
    if (note && sees(sight, note)) yield note;
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
  for (const note of newestFirst(head, query)) {
    total += 1;
    if (after && !isAfter(note, after)) continue;
    if (items.length < query.limit) {
      items.push(note.meta);
      last = note;
    } else more = true;
  }
  return { items, total, nextCursor: more && last ? writeCursor(last) : null };
}

interface Place {
  readonly updatedMs: number;
  readonly id: string;
}

function isAfter(note: LiveNote, place: Place): boolean {
  return note.updatedMs < place.updatedMs || (note.updatedMs === place.updatedMs && note.entry.id > place.id);
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
  const types = new Map<string, number>();
  const statuses = new Map<string, number>();
  const scopes = new Map<string, number>();
  const agents = new Map<string, number>();
  const recent: Summary["recent_notes"][number][] = [];
  const blockers: Summary["open_blockers"][number][] = [];
  let total = 0;
  for (const { meta } of newestFirst(head, { filter: {}, viewer, nowMs })) {
    total += 1;
    count(types, meta.type);
    count(statuses, meta.status);
    count(scopes, meta.scope);
    if (meta.agent_name !== null) count(agents, meta.agent_name);
    const { note_id, title, type, updated_at } = meta;
    if (recent.length < RECENT) recent.push({ note_id, title, type, updated_at });
    if (type === "blocker" && meta.status === "open") blockers.push({ note_id, title, updated_at });
  }
  return {
    total_notes: total,
    type_distribution: Object.fromEntries(types),
    recent_notes: recent,
    by_status: Object.fromEntries(statuses),
    by_scope: Object.fromEntries(scopes),
    by_agent: Object.fromEntries(agents),
    open_blockers: blockers,
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
