/**
 * The one way from what happened to a note to the record that subscribers and `notes.changes` get.
 * Pure; live events and those read back from history both come through here, so they are equal byte for byte.
 */
import { changedFields, type NoteState } from "../../domain/changed-fields.ts";
import type { CommitInfo } from "../../domain/event.ts";
import type { BlobId, NoteId, NoteMetadata, RepoPath, Trust } from "../../domain/note.ts";
import { stemOf } from "../../lib/slash-path.ts";
import type { Changed } from "../notebook.ts";
import type { Via } from "./heads.ts";

/** One note in one batch, without what its files say. */
interface Happening {
  /** Where the note is now, or was when it went. */
  readonly path: RepoPath;
  readonly noteId: NoteId;
  readonly action: string;
  readonly revision: BlobId | null;
  readonly trust: Trust;
  /** The commit that did it. */
  readonly by: CommitInfo;
  readonly via: Via;
}

/** What the note's files said, and how they differ. */
export interface BeforeAfter {
  readonly before: NoteMetadata | null;
  readonly after: NoteMetadata | null;
  readonly fields: readonly string[];
}

/** @param before,after null: no file there */
export function beforeAfter(before: NoteState | null, after: NoteState | null): BeforeAfter {
  return {
    before: before?.metadata ?? null,
    after: after?.metadata ?? null,
    fields: changedFields(before, after),
  };
}

/** The record, without its cursor. A file that can't be read as a note shows what it said last, else its stem. */
export function toChanged(what: Happening, { before, after, fields }: BeforeAfter): Changed {
  const note = after ?? before;
  const { proved } = what.by;
  return {
    commit: what.by.id,
    action: what.action,
    note_id: what.noteId,
    title: note?.title ?? stemOf(what.path),
    type: note?.type ?? "general",
    status: note?.status ?? "open",
    tags: note?.tags ?? [],
    fields,
    path: what.path,
    revision: what.revision,
    agent_id: proved?.agentId ?? null,
    agent_name: proved?.agent ?? null,
    author_name: what.by.author.name,
    reason: what.by.reason,
    source: proved?.source ?? "git",
    trust: what.trust,
    via: what.via,
    at: what.by.at,
  };
}
