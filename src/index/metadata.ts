/**
 * A note's metadata: what its file says, completed and bounded by what history proves.
 * Identity, author and trust come from history alone; dates from the file only where a commit of ours wrote them.
 *
 * @see spec: protocol, section 3
 */
import type { NoteState } from "../domain/changed-fields.ts";
import type { NoteMetadata, Quarantined, RepoPath } from "../domain/note.ts";
import { memorySegments } from "../domain/note-path.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import type { ParsedFile } from "./parsed-file.ts";

/** A note file at the head, ready to be shown. */
export interface LiveNote {
  readonly entry: Entry;
  readonly meta: NoteMetadata;
  /** The body; of a file that can't be read as a note its whole text. */
  readonly body: string;
  /** The dates that the file states. */
  readonly createdSaid: string | null;
  readonly updatedSaid: string | null;
  readonly isPinnedSaid: boolean;
  readonly updatedMs: number;
  /** ms; null: never. */
  readonly expiresMs: number | null;
  readonly quarantined: Quarantined | null;
  /** Where words that name a memory and the path disagree. */
  readonly disagreements: readonly string[];
}

const NO_EXTRA: Readonly<Record<string, unknown>> = Object.freeze({});
const NOWHERE: readonly string[] = Object.freeze([]);

/** Complete what a file says by what history proves: a note as callers see it. */
export function liveNote(graph: CommitGraph, entry: Entry, parsed: ParsedFile): LiveNote {
  const { said } = parsed;
  const { commits } = graph;
  const created_at = said?.createdAt ?? iso(commits.atMsOf(entry.first));
  const createdMs = Date.parse(created_at);
  const stamped =
    commits.stampsOf(entry.changed) && said?.updatedAt
      ? Date.parse(said.updatedAt)
      : commits.atMsOf(entry.changed);
  const updatedMs = Math.max(stamped, createdMs);
  const isPinnedSaid = said?.pinned ?? false;
  const pinned = isPinnedSaid && entry.pin === "counts";
  const extra = said === null || Object.keys(said.extra).length === 0 ? NO_EXTRA : said.extra;
  const author =
    said !== null && isNotebooks(said, entry.path)
      ? { agentId: said.agentId, name: said.agentName }
      : commits.agentOf(entry.first);
  const meta: NoteMetadata = {
    note_id: entry.id,
    title: entry.brief.title,
    type: entry.brief.type ?? "general",
    // Shared with history, 100,000 times: the wire type is mutable, metadata of an index is not.
    tags: entry.brief.tags as string[],
    created_at,
    updated_at: updatedMs === createdMs ? created_at : iso(updatedMs),
    status: said?.status ?? "open",
    scope: said?.scope ?? "workspace",
    scope_ref_id: said?.scopeRefId ?? null,
    key: said?.key ?? null,
    agent_id: author?.agentId ?? null,
    agent_name: author?.name ?? null,
    pinned,
    expires_at: said?.expiresAt ?? null,
    path: entry.path,
    revision: entry.blob,
    trust: entry.trust,
    // What the file says and what doesn't count is kept there, as an unknown type is.
    extra: isPinnedSaid && !pinned ? { ...extra, pinned: true } : extra,
  };
  return {
    entry,
    meta,
    get body() {
      return parsed.body;
    },
    createdSaid: said?.createdAt ?? null,
    updatedSaid: said?.updatedAt ?? null,
    isPinnedSaid,
    updatedMs,
    expiresMs: meta.expires_at === null ? null : Date.parse(meta.expires_at),
    quarantined: parsed.trouble && { path: entry.path, ...parsed.trouble },
    disagreements: said?.disagreements ?? NOWHERE,
  };
}

/** The parsed file that a note was made of, as far as it counted. */
export function parsedOf(note: LiveNote): ParsedFile {
  const { entry, meta, body, createdSaid, updatedSaid, isPinnedSaid, quarantined, disagreements } = note;
  const { status, scope, key, pinned } = meta;
  const said = {
    createdAt: createdSaid,
    updatedAt: updatedSaid,
    status,
    scope,
    scopeRefId: meta.scope_ref_id,
    key,
    agentId: meta.agent_id,
    agentName: meta.agent_name,
    pinned: isPinnedSaid,
    expiresAt: meta.expires_at,
    extra: isPinnedSaid && !pinned ? withoutPin(meta.extra) : meta.extra,
    ...(disagreements.length === 0 ? {} : { disagreements }),
  };
  return {
    brief: entry.brief,
    said: quarantined ? null : said,
    body,
    trouble: quarantined && { line: quarantined.line, reason: quarantined.reason },
  };
}

function withoutPin({ pinned: _claimed, ...extra }: NoteMetadata["extra"]): NoteMetadata["extra"] {
  return extra;
}

/**
 * Whether it is memory of one agent's notebook: then that is whose it is, whoever wrote it. A file elsewhere may say what
 * it likes of itself: it is in nobody's.
 */
export const isNotebooks = ({ key, scope }: Pick<NoteMetadata, "key" | "scope">, path: RepoPath) =>
  key !== null && scope !== "workspace" && (memorySegments(path)?.agent ?? null) !== null;

const iso = (ms: number) => new Date(ms).toISOString();

/** A note as `changedFields` compares it and as callers see its state. */
export function stateOf(note: LiveNote): NoteState {
  return { metadata: note.quarantined ? null : note.meta, content: note.body };
}
