/**
 * The notebook: the single writer and everything a door may ask. Doors and actions see these types only.
 * `open.ts` makes one from a store and an index.
 */
import type { WriteRequest } from "../domain/change.ts";
import type { Author } from "../domain/event.ts";
import type { NoteFilter } from "../domain/filters.ts";
import type { BlobId, CommitId, NoteId, NoteMetadata, RepoPath, Trust } from "../domain/note.ts";
import type { Caller } from "../domain/principal.ts";
import type {
  HistoryFilter,
  HistoryRow,
  Page,
  SearchQuery,
  SearchRow,
  Summary,
  Viewer,
} from "../index/note-index.ts";
import type { KeptConflict, RepoState } from "../store/note-store.ts";
import type { Memories } from "./memories.ts";
import type { NotebookStatus } from "./notebook-status.ts";
import type { HeldFile } from "./reconcile/held-files.ts";
import type { Review } from "./review/review.ts";

/** What a write did. A replayed request answers what the first one did. */
export interface WriteOutcome {
  readonly noteId: NoteId;
  /** Null after a delete. */
  readonly path: RepoPath | null;
  readonly revision: BlobId | null;
  readonly commit: CommitId;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** False when the bytes were the same already: no commit was made, and `commit` is the note's last. */
  readonly changed: boolean;
  readonly merged: boolean;
  /** The note is new: a create, or a save where there was no memory or an expired one. False when replayed. */
  readonly created: boolean;
  readonly replayed: boolean;
}

export interface NoteText {
  readonly metadata: NoteMetadata;
  readonly content: string;
  /** The working file holds an edit that is not committed yet (`reconcile.commit: "manual"`). */
  readonly dirty: boolean;
  /** A conflict is kept for this note, or a person committed markers and the last clean version is served. */
  readonly conflicted: boolean;
}

/** A note as it was at a commit. */
export interface NoteThen {
  readonly noteId: NoteId;
  readonly path: RepoPath;
  readonly revision: BlobId;
  readonly commit: CommitId;
  /** Of the moment that was asked for. */
  readonly atMs: number;
  /** Null: the file could not be read as a note. */
  readonly metadata: NoteMetadata | null;
  readonly content: string;
}

/** A note's file at two commits; null: it was not there. */
export interface NoteSides {
  readonly noteId: NoteId;
  /** Null: before the first commit. */
  readonly from: CommitId | null;
  readonly to: CommitId | null;
  readonly before: { readonly path: RepoPath; readonly text: string } | null;
  readonly after: { readonly path: RepoPath; readonly text: string } | null;
}

/** A line of history with what only its commit says. */
export interface HistoryEntry extends HistoryRow {
  /** As the commit has it: of an unproved one a mere claim. */
  readonly authorName: string;
  readonly reason: string | null;
  readonly changes: string | null;
}

/** A commit as it stands beside the lines that it brought. */
export interface BlamedCommit {
  readonly commit: CommitId;
  readonly at: string;
  readonly action: string;
  readonly agentName: string | null;
  readonly authorName: string;
  readonly source: HistoryRow["source"];
  readonly trust: Trust;
  readonly reason: string | null;
}

/** A note's file with the commit that brought each line; each of those commits once. */
export interface Blame {
  readonly noteId: NoteId;
  readonly path: RepoPath;
  readonly revision: BlobId;
  readonly lines: readonly { readonly text: string; readonly commit: CommitId }[];
  readonly commits: readonly BlamedCommit[];
}

/** The body of a `notes.changed` notification, without its subscription. */
export interface Changed {
  readonly commit: CommitId;
  readonly action: string;
  readonly note_id: NoteId;
  readonly title: string;
  readonly type: string;
  readonly status: string;
  readonly tags: readonly string[];
  readonly fields: readonly string[];
  readonly path: RepoPath;
  readonly revision: BlobId | null;
  readonly agent_id: number | null;
  readonly agent_name: string | null;
  /** The commit's author: the agent, or which person. */
  readonly author_name: string;
  readonly reason: string | null;
  readonly source: "api" | "disk" | "import" | "push" | "git";
  readonly trust: Trust;
  readonly via: "live" | "sync" | "push";
  readonly at: string;
  readonly cursor?: string;
}

export interface ChangesPage {
  readonly changes: readonly Changed[];
  readonly cursor: string;
  readonly more: boolean;
  readonly squashed: boolean;
}

/** A place to send notifications: one socket. Never called after `unsubscribe` or its close. */
export interface Listener {
  changed(change: Changed): void;
  /** While paused an event had to be held back: after `resume()` it is served from `cursor`. Once a pause. */
  lagged(cursor: string): void;
  /** The log can't be read on from `cursor`, the subscription is over: close the socket (1013), never go silent. */
  failed(error: Error, cursor: string): void;
}

/** Events start after the caller of `subscribe` had a turn of the loop to send its reply. */
export interface Subscription {
  /** Where a client that has every event so far would resume; moves as events are handed over. */
  readonly cursor: string;
  /** Hold events back (they stay in the log, not in memory). May be called inside `changed`. */
  pause(): void;
  /** Go on from `cursor`. */
  resume(): void;
  unsubscribe(): void;
}

export interface VerifyProblem {
  readonly kind: string;
  readonly path: string;
  readonly detail: string;
}

/** What became of a commit that was to be joined into the branch. */
export interface Joined {
  readonly kind: "up_to_date" | "fast_forward" | "merged";
  /** The branch's tip afterwards. */
  readonly tip: CommitId;
  /** The merge commit; else the commit that was given, or its descendant that the branch had. */
  readonly commit: CommitId;
  /** What the merge could not merge: ours stands, theirs is kept. */
  readonly conflicts: readonly KeptConflict[];
}

/** A point in history or time as a caller may name it: commit, ISO time, `7d`, `12h`, `monday`, `last`.
 * `commit` is null for a time before the first commit. */
export type Moment = { readonly commit: CommitId | null; readonly atMs: number };

export interface Notebook extends Memories {
  /**
   * Carry out one change. Writes of all doors meet in one queue and are committed in groups.
   * @param entered called when the change has its place in the queue: a write begun after that comes after it
   * @returns when the commit is durable and the index knows it
   */
  write(request: WriteRequest, caller: Caller, entered?: () => void): Promise<WriteOutcome>;

  /**
   * What this caller's request with this key did when it was carried out before, asked before anything else is:
   * what the request names may be gone or forbidden by now. Null: it was not, or is just being carried out.
   * @throws NotesError IDEMPOTENCY_MISMATCH the key was used with other parameters
   * @cost a look-up
   */
  replay(idempotency: NonNullable<WriteRequest["idempotency"]>, caller: Caller): WriteOutcome | null;

  /**
   * Bring the branch and another commit of the repository together, note-shaped: a fast-forward, or one merge commit.
   * A person's edits in the way are committed first. Subscribers get it with this `via`.
   * @param how `from` names what comes in, for the commit's subject: `from origin`
   * @returns when the branch has it, durably, and the index knows
   * @throws NotesError CONFLICT `data.reason`: unrelated, held_edit, dirty_edit, dirty_files, path_taken; nothing moved
   * @throws NotesError REPO_BUSY, STORAGE, UNKNOWN_COMMIT
   */
  join(
    theirs: CommitId,
    how: {
      readonly author: Author;
      readonly via: "sync" | "push";
      readonly reason: string | null;
      readonly from?: string;
      /**
       * A person's way out where histories don't fit: `theirs` moves the branch there, whatever it had; `ours` makes a
       * merge commit of both that holds what ours does.
       */
      readonly choose?: "theirs" | "ours";
      /** Told the tip before the branch leaves it, so that it can be kept. */
      readonly beforeMove?: (tip: CommitId) => Promise<void>;
    },
  ): Promise<Joined>;

  /** What the index knows of a note, expired ones too; null for an unknown id. @cost a look-up */
  metadata(id: string): NoteMetadata | null;
  /** @param at undefined: now, with a person's unsettled edit adopted first */
  read(id: string, caller: Caller, at?: string): Promise<NoteText>;
  /** A note at a moment, deleted and expired ones too. @throws NotesError NOT_FOUND it was not there then */
  noteThen(id: string, at: string, caller: Caller): Promise<NoteThen>;
  /**
   * A note's file at two moments, by default around its last change, for which a person's save is committed first.
   * @throws NotesError NOT_FOUND the note never was
   */
  sides(id: string, from: string | undefined, to: string | undefined, caller: Caller): Promise<NoteSides>;
  /**
   * Who wrote each line of a note, as it is or as it was at a moment of this branch.
   * @throws NotesError NOT_FOUND, UNKNOWN_COMMIT a commit that the branch does not have
   */
  blame(id: string, at: string | undefined, caller: Caller): Promise<Blame>;
  list(query: {
    filter: NoteFilter;
    viewer: Viewer;
    limit: number;
    cursor: string | null;
  }): Page<NoteMetadata>;
  search(
    query: Omit<SearchQuery, "nowMs"> & { at?: string },
    caller: Caller,
  ): Promise<{ rows: readonly SearchRow[]; total: number }>;
  summary(viewer: Viewer): Summary;
  /** `isCut`: the last page of a shallow clone, where older history is not here. */
  history(
    filter: HistoryFilter,
    limit: number,
    cursor: string | null,
  ): Promise<Page<HistoryEntry> & { readonly isCut?: boolean }>;
  /**
   * What a person should know since they last looked: since a moment, else their mark, else the last 7 days.
   * @param mark keep the head that was looked at as the person's mark; an agent has none
   */
  review(since: string | undefined, mark: boolean, caller: Caller): Promise<Review>;
  conflicts(noteId?: string): Promise<readonly KeptConflict[]>;
  blobText(id: BlobId): Promise<string>;

  /** What a subscription from `since` would have sent. @throws NotesError UNKNOWN_COMMIT with resync_from */
  changes(since: string, limit: number, filter: NoteFilter, caller: Caller): Promise<ChangesPage>;
  /** Events after `since` (default: from now), in order, without gap or repeat, each once. */
  subscribe(
    listener: Listener,
    filter: NoteFilter,
    since: string | null,
    caller: Caller,
  ): Promise<Subscription>;
  /** Repository state as it changes. */
  onState(listener: (state: RepoState & { since: string }) => void): () => void;

  /** @throws NotesError INVALID_PARAMS what is no commit, time or word; UNKNOWN_COMMIT */
  moment(text: string, caller: Caller, parameter: string): Promise<Moment>;
  /** An agent's name or id to ids for filters. @throws NotesError INVALID_PARAMS `"057"`, `" 57"`, `"-1"` */
  agentFilter(value: string | number): readonly number[] | "all";
  /** Every type notes may have here. */
  readonly types: Readonly<Record<string, { readonly priority: number }>>;
  /** Note that the caller was here, for `last`. */
  seen(caller: Caller): void;

  /** Commit hand edits at once: of given paths, or all. @returns commits made @throws NotesError INVALID_PARAMS no note's path */
  settle(paths?: readonly string[], reason?: string): Promise<readonly CommitId[]>;
  /** Hand edits that wait for somebody, of given paths or all, by path. */
  held(paths?: readonly string[]): readonly HeldFile[];
  verify(): Promise<{ digest: string; rebuilt: string; equal: boolean; problems: VerifyProblem[] }>;
  status(): Promise<NotebookStatus>;
  /** Finish what was accepted, settle edits, flush, write the checkpoint. */
  close(): Promise<void>;
}
