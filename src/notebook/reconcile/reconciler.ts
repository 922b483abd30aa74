/** What the reconciler needs of the single writer, and what it gives. `reconcile.ts` makes one. */
import type { Author } from "../../domain/event.ts";
import type { BlobId, CommitId, NoteId, RepoPath } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Warn } from "../../lib/bus.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Draft, NoteStore, Publication } from "../../store/note-store.ts";
import type { HeldEdit } from "./held-edits.ts";
import type { SecretFinder } from "./secret-check.ts";
import type { Hold } from "./settling.ts";

export interface ReconcileSettings {
  /** A hand edit is committed after it lay unchanged this long, ms. */
  readonly quiet_ms: number;
  /** At most this long after the first save, ms. */
  readonly max_wait_ms: number;
  /** `manual`: only `settle(…, by "person")` commits. */
  readonly commit: "auto" | "manual";
}

/** What a note's bytes say and how two versions merge: the domain's part. */
export interface NoteWords {
  /** `id`: what the file itself says, when it may serve as one. */
  describe(
    path: RepoPath,
    bytes: Uint8Array,
  ): { readonly id: NoteId | null; readonly title: string; readonly type: string };
  /** The merged bytes; null when both sides changed the same thing differently. */
  merge(path: RepoPath, base: Uint8Array | null, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null;
}

export interface ReconcilerDeps {
  readonly store: NoteStore;
  /** The index as it is now. */
  readonly index: () => Pick<NoteIndex, "idAt" | "get" | "idTaken">;
  readonly words: NoteWords;
  readonly secrets: SecretFinder;
  /** Where it is written down which edits hold secrets; null: nowhere. */
  readonly heldFile: string | null;
  readonly clock: Clock;
  /** Author of hand edits: `user.name` and `user.email`. */
  readonly person: Author;
  readonly settings: ReconcileSettings;
  /** The tip that the last run knew (the checkpoint's head); null: none. */
  readonly levelAt: CommitId | null;
  /** Run a job alone between groups of writes. */
  enqueue<T>(job: () => Promise<T>): Promise<T>;
  /** Commit, fold into the index, publish. Called inside a job only. */
  commitDrafts(drafts: readonly Draft[]): Promise<Publication>;
  /** Work that nobody waits for failed; it is tried again. */
  failed(error: unknown): void;
  readonly warn: Warn;
}

/** Why a scan of everything: `start` trusts the files' times, the others only what was seen change. */
export type ScanReason = "start" | "interval" | "head" | "index" | "watcher" | "stall" | "flood" | "asked";

export interface Reconciler {
  /** Something may have happened at these files or folders. @returns when they were looked at */
  hint(paths: Iterable<string>): Promise<void>;
  /** Look at everything; what has settled by then is committed, files that lag are brought forward. */
  scanAll(reason: ScanReason): Promise<void>;
  /**
   * Commit hand edits at once. Waits for deletions to be a second old. **Never call it inside a job.**
   *
   * @param paths absent: all, after a look at everything
   * @param reason into the commit's body
   * @param by `daemon` (a door reads or writes the note, stop): staged, manual and conflicting edits stay.
   *   `person` (`notesd commit`): manual and conflicting ones are committed as they lie on the disk
   * @returns commits made, oldest first
   * @throws NotesError REPO_BUSY, STORAGE  as `NoteStore.commit`; the edits stay unsettled
   */
  settle(paths?: readonly RepoPath[], reason?: string, by?: "daemon" | "person"): Promise<CommitId[]>;
  /** Whether the working file holds an edit that is not committed. */
  dirty(path: RepoPath): boolean;
  /** Why an edit of this path stays uncommitted even when asked; null: it doesn't. */
  held(path: RepoPath): Hold | null;
  /**
   * The blob that lies in a file whose edit is kept as a conflict, else null. A write that resolves the
   * conflict names it as `onDisk`, and so replaces it.
   */
  kept(path: RepoPath): BlobId | null;
  /** The conflict of this path was resolved for what the branch holds: the file is brought to it. */
  resolve(path: RepoPath): Promise<void>;
  /** Edits that are held for a secret, by path. */
  heldEdits(): readonly HeldEdit[];
  /** Paths whose files stay as they are for one of those: theirs, and where such a note was moved from. */
  heldPaths(): RepoPath[];
  /** Paths that are held or were, and at which the branch has gained something that the file doesn't have. */
  parted(): RepoPath[];
  /** The one that holds this path: its own, or the one that its note was moved to. */
  heldEdit(path: RepoPath): HeldEdit | null;
  unsettled(): RepoPath[];
  /** Files that are never committed by us, and why. */
  reported(): { path: RepoPath; reason: string }[];
  /** Files that should hold the tip and could not be written yet. */
  pending(): RepoPath[];
  /**
   * HEAD, a ref or the Git index changed, or what a person lets pass: what was held for that alone is committed at once.
   * @param ours the daemon moved the branch to rewritten history itself */
  onHeadMoved(ours?: boolean): Promise<void>;
  /** Files that hold what the branch held before, and wait to be brought forward. Waits for no queue. */
  lagging(): Promise<RepoPath[]>;
  /** A chain of ours was committed. @cost its paths */
  published(publication: Publication): void;
  /** Stop timers and finish what runs. Settle first. */
  close(): Promise<void>;
}
