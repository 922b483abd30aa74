/**
 * The index: a fold over commit events. It knows what can be found and nothing of Git or the disk.
 * Invariant: `state(commit)` is a function of the commit alone, so an index that followed every event
 * equals one rebuilt from history (digest and every derived field).
 */
import type { NoteState } from "../domain/changed-fields.ts";
import type { CommitEvents, NoteSource, ReadBlob } from "../domain/event.ts";
import type { NoteFilter } from "../domain/filters.ts";
import type { BlobId, CommitId, NoteId, NoteMetadata, Quarantined, RepoPath, Trust } from "../domain/note.ts";
import type { Mark, Origin, Snapshot } from "./checkpoint.ts";
import type { MemoryFileQuery, MemoryFileRow } from "./memory/memory-files.ts";

/** What happened to one note in one commit: the fold's answer, a history row, and a notification's core. */
export interface NoteChange {
  readonly commit: CommitId;
  readonly noteId: NoteId;
  readonly path: RepoPath;
  /** The author's word for a proved single-note commit; else what happened to the file. */
  readonly action: string;
  /** After the change; null when the note is gone or quarantined. */
  readonly after: NoteMetadata | null;
  readonly before: NoteMetadata | null;
  /** `changedFields(before, after)`: names of metadata fields that changed, and `content`. */
  readonly fields: readonly string[];
  readonly revision: BlobId | null;
}

/** One line of history, without what only the commit object holds (title, reason, changes). */
export interface HistoryRow {
  readonly commit: CommitId;
  readonly noteId: NoteId;
  readonly path: RepoPath;
  readonly action: string;
  readonly type: string | null;
  readonly title: string;
  readonly tags: readonly string[];
  readonly agentId: number | null;
  readonly agentName: string | null;
  readonly source: NoteSource | "git";
  readonly trust: Trust;
  readonly session: string | null;
  /** Author date, ms. */
  readonly atMs: number;
  /** Blob after; null: removed. */
  readonly revision: BlobId | null;
}

/** A note file in the state of a commit. */
export interface FileAt {
  readonly path: RepoPath;
  readonly blob: BlobId;
  readonly noteId: NoteId;
  /** The commit that last changed the file, as of that state. */
  readonly changedIn: CommitId;
  readonly trust: Trust;
  /** Null: the file can't be read as a note. */
  readonly type: string | null;
}

/** A note that has expired and is not swept yet. */
export interface ExpiredFile extends FileAt {
  readonly expiresMs: number;
}

export interface HistoryFilter {
  readonly noteId?: NoteId;
  readonly agentIds?: readonly number[];
  readonly types?: readonly string[];
  readonly tags?: readonly string[];
  readonly actions?: readonly string[];
  readonly sources?: readonly string[];
  readonly session?: string;
  /** Rows of this class or a higher one. */
  readonly minTrust?: Trust;
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** Whose notebooks a default query sees: an agent's id, or a person, who sees the whole workspace. */
export type Viewer = { readonly kind: "person" } | { readonly kind: "agent"; readonly agentId: number };

export interface SearchRow {
  readonly note: NoteMetadata;
  /** Body text, uncut. */
  readonly content: string;
  /** 0..1; 1 for a literal hit and without a query. */
  readonly score: number;
  /** The hit with its surroundings, ≤ 240 characters. */
  readonly snippet: string;
}

export interface SearchQuery {
  readonly query: string | null;
  readonly mode: "ranked" | "substring";
  /** The seed's own search looks at title and body only; ours also at tags. */
  readonly fields: "title-body" | "title-body-tags";
  readonly filter: NoteFilter;
  readonly viewer: Viewer;
  readonly nowMs: number;
  readonly limit: number;
}

export interface RecallQuery {
  /** Null: every one in sight. Without the prefix. */
  readonly key: string | null;
  /** Only keys that begin so; "" for every key that callers see. */
  readonly prefix: string;
  readonly filter: NoteFilter;
  readonly viewer: Viewer;
  readonly nowMs: number;
  readonly limit: number;
}

export interface RecallRow {
  readonly note: NoteMetadata;
  /** The body, uncut. */
  readonly value: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly nextCursor: string | null;
}

/** A remembered request, found by its `Request-Key`. */
export interface RememberedRequest {
  readonly hash: string;
  readonly commit: CommitId;
  readonly noteId: NoteId;
  readonly path: RepoPath | null;
  readonly revision: BlobId | null;
}

export interface NoteIndex {
  /** The commit that the index reflects; null before the first. */
  readonly head: CommitId | null;

  /**
   * Fold commits, parents before children, ending at the new head: what `history(head, newHead)` yields.
   * Where the branch moved back to a commit that is held, that is nothing, and `to` names the new head.
   * All reads happen first; the change of state is one synchronous step, so no reader sees half a commit.
   * Any head whose ancestors are held or given will do, also one that does not descend from the held one.
   * Calls must not overlap.
   *
   * @returns when the held head lies on the new head's first-parent chain: one entry a note in each commit of
   *   that chain, in order (a merge's are its differences to its first parent); else the difference of
   *   the two states, as of the new head
   * @param to  the new head; default: the last of `commits`
   * @throws NotesError UNKNOWN_COMMIT `to` or a parent is neither held nor given (see `canExtend`); nothing changed
   * @cost a chain from the head: O(changes), well under 1 ms a note; any other move: O(everything held)
   */
  apply(commits: readonly CommitEvents[], read: ReadBlob, to?: CommitId): Promise<NoteChange[]>;
  /**
   * Whether `apply` can take these: every parent is held or given, and for the head `to` no request was let go of that
   * it would remember (the branch was put back by tens of thousands of writes). When not: `rebuild` from all of history.
   */
  canExtend(commits: readonly CommitEvents[], to?: CommitId): boolean;
  /**
   * Throw everything away and fold a whole history, parents before children, ending at the head.
   * Readers see the old state until the new one stands; after a throw the old state stays.
   */
  rebuild(commits: AsyncIterable<CommitEvents> | Iterable<CommitEvents>, read: ReadBlob): Promise<void>;

  /** By id, else by the stem of a file without `id` while that is unique. Expired notes too. */
  get(id: string): NoteMetadata | null;
  idAt(path: RepoPath): NoteId | null;
  /** Whether `fileAt` and `noteAt` can answer for a commit: also one that the head doesn't reach any more. */
  holds(commit: CommitId): boolean;
  /** The note file at a path in the state of any held commit; null: none there, or the commit isn't held. @cost no read */
  fileAt(commit: CommitId, path: RepoPath): FileAt | null;
  /** The note file that a name (id or stem) meant in the state of any held commit. @cost `fileAt`; by stem a look at every path */
  namedAt(commit: CommitId, name: string): FileAt | null;
  /** The id of a note that is or was in the history, by id or stem; null: none, or a stem that several had. */
  idEver(name: string): NoteId | null;
  /**
   * A note as any held commit left it, exactly as `apply` told of it (`before`, `after` of a NoteChange).
   * @returns null when there was no note file at the path; `metadata` null for one that can't be read as a note
   */
  noteAt(commit: CommitId, path: RepoPath, read: ReadBlob): Promise<NoteState | null>;
  /** Every note file at the head, quarantined ones too, by path bytes. */
  files(): readonly { readonly path: RepoPath; readonly blob: BlobId; readonly noteId: NoteId }[];
  /** The note's body, as in the file; null for an unknown note. */
  content(id: NoteId): string | null;
  quarantined(): readonly Quarantined[];
  /**
   * Why this id's file can't be read as a note; null when it can. Such a file is in no list and no summary;
   * `get` (title: its stem), `content` (its whole text) and `search` know it.
   */
  quarantine(id: NoteId): Quarantined | null;
  /** Ids that two files claim: the one that keeps it, and the one served under its `f_` id. */
  duplicates(): readonly {
    readonly id: string;
    readonly kept: RepoPath;
    readonly other: RepoPath;
    readonly servedAs: NoteId;
  }[];

  /** Files whose words name another memory than their path does, and how; the path is what counts. By path. */
  disagreements(): readonly { readonly path: RepoPath; readonly reason: string }[];

  /** Memory, pinned first where the pin counts, then newest update first. */
  recall(query: RecallQuery): { readonly rows: readonly RecallRow[]; readonly total: number };
  /** An agent's memory of scope `agent`, newest update first. @cost its notebook; no body is read */
  memoryFiles(query: MemoryFileQuery): readonly MemoryFileRow[];
  /** Newest update first, ties by note id. @throws NotesError INVALID_PARAMS a cursor that is none of ours */
  list(query: {
    readonly filter: NoteFilter;
    readonly viewer: Viewer;
    readonly nowMs: number;
    readonly limit: number;
    readonly cursor: string | null;
  }): Page<NoteMetadata>;
  /**
   * Every word is indexed by then, and from now on between turns: a search that waits for it keeps nobody else
   * waiting. An index that nobody searches reads no words.
   * @param hurried  default true; false: in turns of the loop that nobody else wants
   */
  words(hurried?: boolean): Promise<void>;
  /** As `search`, in steps between which others have their turn; what changes meanwhile counts as it is then. */
  searchInTurns(query: SearchQuery): Promise<{ readonly rows: readonly SearchRow[]; readonly total: number }>;
  /** @cost reads first, at once, the words that are still to be read: see `words` */
  search(query: SearchQuery): { readonly rows: readonly SearchRow[]; readonly total: number };
  /**
   * As `searchInTurns`, in the state of any held commit.
   * @cost a look at each path and a blob for each note that changed since; see `searchPast`
   */
  searchAt(
    commit: CommitId,
    query: SearchQuery,
    read: ReadBlob,
  ): Promise<{ readonly rows: readonly SearchRow[]; readonly total: number }>;
  summary(viewer: Viewer, nowMs: number): Summary;

  /** Newest first (fold order). */
  history(filter: HistoryFilter, limit: number, cursor: string | null): Page<HistoryRow>;
  /** Rows of what the head has and none of these held commits has, newest first. @cost a look at each commit */
  rowsAfter(seen: readonly CommitId[]): Iterable<HistoryRow>;
  /** Rows of one commit, by path. */
  rowsOf(commit: CommitId): readonly HistoryRow[];
  /** Every path that a note id has had, newest first. */
  pathsOf(id: NoteId): readonly RepoPath[];
  /** The commit that deleted a note that is no more, if history knows it. */
  deletedIn(id: string): CommitId | null;
  knows(commit: CommitId): boolean;
  request(key: string): RememberedRequest | null;
  /** Every id ever given, so that none is given twice. */
  idTaken(id: string): boolean;
  agents(): readonly { readonly agentId: number; readonly name: string }[];
  /**
   * Notes that have expired by a moment, the longest gone first; one that changes while they are read counts as it is
   * when its turn comes.
   * @cost those that have expired, and a few looks
   */
  expired(nowMs: number): Iterable<ExpiredFile>;
  /** When the next note expires after a moment, ms; Infinity: none does. */
  nextExpiryMs(afterMs: number): number;
  /** How many notes a folder directly holds at the head (for DD.2, DD.3, …). */
  folderCount(folder: string): number;
  /** Folders that directly hold a note file, "" the root, in no order. */
  folders(): Iterable<string>;
  /** How many notes there are, expired ones too; with a moment: without those that have expired by then. */
  size(nowMs?: number): number;

  /** @see spec: protocol, daemon.verify */
  digest(): string;
  /** Fields that differ between two indexes of one head, for `daemon.verify`; empty when equal. */
  differences(other: NoteIndex): readonly { readonly path: RepoPath; readonly detail: string }[];
  /** As `files`, in steps between which the index must not move. */
  filesInSteps(): Generator<
    void,
    readonly { readonly path: RepoPath; readonly blob: BlobId; readonly noteId: NoteId }[]
  >;
  /**
   * The state as bytes, or what came to it since a mark; `restoreNoteIndex` reads it back without any blob.
   * For one file at a time: a mark is good until the next call. @cost some 20 ns a note; see `Snapshot`
   */
  snapshot(after: Mark | null): Snapshot;
  /** The file it was restored from; null: it was made empty. */
  readonly origin: Origin | null;
}

export interface Summary {
  readonly total_notes: number;
  readonly type_distribution: Readonly<Record<string, number>>;
  readonly recent_notes: readonly { note_id: string; title: string; type: string; updated_at: string }[];
  readonly by_status: Readonly<Record<string, number>>;
  readonly by_scope: Readonly<Record<string, number>>;
  readonly by_agent: Readonly<Record<string, number>>;
  readonly open_blockers: readonly { note_id: string; title: string; updated_at: string }[];
}
