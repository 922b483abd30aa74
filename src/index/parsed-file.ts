/**
 * A note file's content as the index takes it: from bytes alone, so equal blobs at one path parse alike.
 * What history adds (id, dates that the file lacks, author, trust) is `metadata.ts`.
 */
import type { NoteMetadata, RepoPath } from "../domain/note.ts";
import type { Brief } from "./entry.ts";

export interface ParsedFile {
  readonly brief: Brief;
  /** What the front matter says; null: the file can't be read as a note. */
  readonly said: {
    /** ISO 8601, or null where the file is silent. */
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
    readonly status: NoteMetadata["status"];
    readonly scope: NoteMetadata["scope"];
    readonly scopeRefId: string | null;
    readonly key: string | null;
    /** Of a memory its path's; of other notes it counts for nothing. */
    readonly agentId: number | null;
    readonly agentName: string | null;
    readonly pinned: boolean;
    readonly expiresAt: string | null;
    readonly extra: Readonly<Record<string, unknown>>;
    /** Where words that name a memory and the path disagree; absent: nowhere. */
    readonly disagreements?: readonly string[];
  } | null;
  /** The body as in the file; the whole text of a file that can't be read as a note. */
  readonly body: string;
  /** Set when `said` is null. */
  readonly trouble: { readonly line: number | null; readonly reason: string } | null;
}

/** Parse a note file. Never throws: what can't be read is told in `trouble`. */
export type ParseFile = (path: RepoPath, bytes: Uint8Array) => ParsedFile;

/** `earlier` when it says the same, so that revisions share one object. */
export function shareBrief(earlier: Brief | undefined, brief: Brief): Brief {
  const same =
    earlier !== undefined &&
    earlier.title === brief.title &&
    earlier.type === brief.type &&
    earlier.claim === brief.claim &&
    earlier.tags.length === brief.tags.length &&
    earlier.tags.every((tag, i) => tag === brief.tags[i]);
  return same ? earlier : brief;
}
