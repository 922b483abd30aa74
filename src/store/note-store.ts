/**
 * The interface of a store: chains of drafts in, events out. `git-store.ts` keeps it on a repository,
 * the tests' own store in Maps; one contract suite holds both to these words.
 * The truth is the tip of one branch; the working tree is a door, seen through `WorkTree`.
 */
import type { CommitMessage } from "../domain/commit-message.ts";
import type { Author, CommitEvents, CommitInfo } from "../domain/event.ts";
import type { BlobId, CommitId, RepoPath } from "../domain/note.ts";
import type { Advance, AdvanceOutcome, Entry, EntryChange } from "./advance.ts";

export interface FileWish {
  readonly path: RepoPath;
  /** The blob the path must hold in the tree this draft is built on; null: the path must be absent. */
  readonly expected: BlobId | null;
  /** New bytes; null removes the file. */
  readonly bytes: Uint8Array | null;
  /**
   * Origin `door` only: what the working file must hold instead of base (null: nothing), because `bytes`
   * already merge it. It is replaced as any file is; without this a person's unsettled save is `dirty`.
   */
  readonly onDisk?: BlobId | null;
}

/** A planned commit. It names 1..n notes; no files at all make an empty commit (a remembered request). */
export interface Draft {
  readonly author: Author;
  /** Author and committer time, ms since the epoch; whole seconds reach Git. */
  readonly atMs: number;
  readonly message: CommitMessage;
  readonly files: readonly FileWish[];
  /**
   * `door`: the working file must still hold `base` and is replaced by the new bytes.
   * `disk`: a person saved these bytes already; the working file must still hold them and stays as it is.
   * While HEAD is elsewhere the files belong to another branch: `door` moves the ref alone, `disk` is `dirty`.
   */
  readonly origin: "door" | "disk";
  /** Further parents of a merge commit, after the tip. */
  readonly mergeParents?: readonly CommitId[];
}

export type DraftOutcome =
  | {
      readonly kind: "committed";
      readonly events: CommitEvents;
      /** Paths whose working file could not be placed; repaired in the background. */
      readonly pending: readonly RepoPath[];
    }
  /** A path did not hold `expected`; nothing of this draft was written. */
  | { readonly kind: "conflict"; readonly path: RepoPath; readonly current: BlobId | null }
  /** What lies at the path, or where its folder must be, is nobody's to replace; nothing of this draft was written. */
  | { readonly kind: "blocked"; readonly path: RepoPath; readonly why: string }
  /** Working files hold a person's unsettled edits; nothing of this draft was written. Adopt, then retry. */
  | { readonly kind: "dirty"; readonly paths: readonly RepoPath[] };

export interface Publication {
  /** The tip that the chain was built on; null on an unborn branch. Not always the tip the caller knew. */
  readonly base: CommitId | null;
  /** The branch's tip afterwards; equals `base` when no draft was committed. */
  readonly tip: CommitId | null;
  /** One for each draft, in order. */
  readonly outcomes: readonly DraftOutcome[];
}

/**
 * What a person's Git is doing. An operation on our branch and what is unsupported refuse writes; `elsewhere` they go
 * to the branch's ref alone; a lock is waited for; `diverged` is between us and a remote, and writes go on.
 * `path`: the file that says so, relative to the Git directory.
 */
export type RepoState =
  | { readonly state: "ok" }
  | { readonly state: "merge" | "rebase" | "cherry-pick" | "revert" | "bisect"; readonly path: string }
  | { readonly state: "diverged"; readonly path: string }
  /** Somebody else's lock stands for longer than a command takes. */
  | { readonly state: "locked"; readonly path: string }
  | { readonly state: "elsewhere"; readonly path: string; readonly at: string }
  /** A person gave the repository a form in which writes would lose notes; `why` says what to run. */
  | { readonly state: "unsupported"; readonly path: string; readonly why: string }
  | { readonly state: "unborn" };

export interface TreeFile {
  readonly path: RepoPath;
  readonly blob: BlobId;
}

/** One path that differs between two commits. */
export interface TreeChange {
  readonly path: RepoPath;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
}

/** A conflict that a merge kept: theirs stays reachable until the note is updated. */
export interface KeptConflict {
  readonly note_id: string;
  readonly path: RepoPath;
  readonly base: BlobId | null;
  readonly ours: BlobId | null;
  readonly theirs: BlobId;
  readonly since: string;
}

/** What `followHead` found. */
export interface Followed {
  readonly tip: CommitId | null;
  /** Paths where base followed since it was asked last. */
  readonly paths: readonly RepoPath[];
  /** Every step from `since` to the tip is known, and none of them took the branch back under files that stayed. */
  readonly told: boolean;
}

export interface NoteStore {
  readonly branch: string;
  readonly workTree: WorkTree;

  /** The branch's tip, null while unborn. A malformed ref throws STORAGE; it is never "no history". */
  tip(): Promise<CommitId | null>;
  state(): Promise<RepoState>;

  /**
   * Commit a chain of drafts, all in one ref update, and return what became of each.
   * A draft that fails its check drops out alone; later drafts are built without it.
   *
   * @param drafts 1..256
   * @returns when everything committed is durable and the Git index is level with the ref
   * @throws NotesError REPO_BUSY a person's merge or rebase is under way, or a lock outlasted `lockWaitMs`
   * @throws NotesError STORAGE   disk full, read-only, permission; nothing was committed
   * @see spec: storage, section 3
   */
  commit(drafts: readonly Draft[]): Promise<Publication>;
  /**
   * Move the branch to a descendant of its tip; files of every kind and the Git index follow as with a commit.
   * Objects of a commit that stands already must be durable.
   *
   * @returns when the move is durable and the Git index is level with the ref, or why nothing moved
   * @throws NotesError REPO_BUSY, STORAGE as `commit`; nothing moved
   * @cost what `entries(from, to)` costs, and a file written for each that differs
   */
  advance(wish: Advance): Promise<AdvanceOutcome>;

  /** @throws NotesError UNKNOWN_COMMIT no such object */
  readBlob(id: BlobId): Promise<Uint8Array>;
  /** The blob at a path in a commit; null when absent or not a regular file. */
  blobAt(commit: CommitId, path: RepoPath): Promise<BlobId | null>;
  /** Every note file (`*.md` under the roots, regular files) of a commit, by path bytes. */
  list(commit: CommitId): Promise<TreeFile[]>;
  /** Note files that differ from `from` to `to`, by path bytes. `from` null: everything is new. */
  diff(from: CommitId | null, to: CommitId): Promise<TreeChange[]>;
  /** Everything that differs, notes or not, by path bytes. @cost as `diff` @throws NotesError INVALID_PARAMS a name that is no UTF-8 */
  entries(from: CommitId | null, to: CommitId): Promise<EntryChange[]>;
  /** What stands at a path of a commit; null: nothing, or a folder. */
  entryAt(commit: CommitId, path: RepoPath): Promise<Entry | null>;
  /**
   * Commits reachable from `to` and not from `after`, parents before children (ties by author date,
   * then id), each with its events against its first parent.
   */
  history(after: CommitId | null, to: CommitId): AsyncIterable<CommitEvents>;
  /** The repository is a shallow clone: its history begins where it was cut. */
  readonly isShallow: boolean;
  /** One commit's header and message, without its events. @throws NotesError UNKNOWN_COMMIT @cost one object */
  commitInfo(id: CommitId): Promise<CommitInfo>;
  /** Resolve a full or unambiguous short commit id (≥ 7 hex digits). @throws NotesError UNKNOWN_COMMIT */
  resolveCommit(text: string): Promise<CommitId>;
  /** The newest commit on the tip's first-parent chain whose author date is at or before `atMs`; null: none. */
  commitAt(atMs: number): Promise<CommitId | null>;
  isAncestor(ancestor: CommitId, of: CommitId): Promise<boolean>;
  mergeBases(a: CommitId, b: CommitId): Promise<CommitId[]>;

  /** Paths of commits that stand whose working file could not be placed yet; they are tried again. */
  pending(): readonly RepoPath[];
  /**
   * The tip that a person's Git took off the branch after `since` by losing a race with us: a reset to HEAD that
   * moved the branch. An undo that names its commit is none.
   */
  takenBack(since: CommitId): Promise<CommitId | null>;
  /**
   * Let base follow a person's own Git: where their commit, merge or checkout moved HEAD, the working files stood at
   * what it moved to. Where the branch was moved alone base stays, and the files lag.
   *
   * @param since where the branch stood when base was last level with it; the first call alone asks it
   * @param look also where the tip is as it was: HEAD may have been away
   */
  followHead(since: CommitId | null, look: boolean): Promise<Followed>;
  /**
   * Put the Git index level where a person's Git wrote one that it had read before a publication of ours.
   * @returns paths that lag still, because another Git command holds the index
   */
  levelIndex(): Promise<readonly RepoPath[]>;
  /** The paths that `levelIndex` would put level. Waits for nothing, so that a hook may ask while a commit waits for it. */
  laggingIndex(): Promise<readonly RepoPath[]>;

  /** A person's Git is at work on another door (a fetch, a push): publishing leaves it room for a while. */
  foreignGit(): void;
  /** Resolves when a publication would not wait for a person's Git; at once while none is at work. Reads nothing. */
  roomBesideGit(): Promise<void>;
  /**
   * Complete a push that was killed after it had brought files and Git index forward and before the branch moved.
   * Else nothing is done: no file is ever touched.
   */
  finishPush(from: CommitId | null, to: CommitId): Promise<void>;

  /** Paths that the person has staged: the Git index differs from the tip. Empty while HEAD is elsewhere. */
  staged(): Promise<ReadonlySet<RepoPath>>;
  /** The texts that the Git index holds at those paths, at every stage of a conflict. */
  stagedTexts(): Promise<ReadonlySet<BlobId>>;

  /**
   * Keep one side of a conflict reachable under refs/notesd/conflicts. Same note and theirs: kept once.
   * @param bytes theirs, when no commit holds it (a hand edit): written as a blob first, durably
   * @returns false: it was kept already
   */
  keepConflict(conflict: KeptConflict, bytes?: Uint8Array): Promise<boolean>;
  /** Take back one that was kept for a merge that did not happen. */
  forgetConflict(conflict: Pick<KeptConflict, "note_id" | "theirs">): Promise<void>;
  conflicts(): Promise<KeptConflict[]>;
  /** Drop every kept conflict of a note, after it was resolved. */
  dropConflicts(noteId: string): Promise<void>;

  /** The head that a person saw last, by the name of their mark; null: never. */
  reviewMark(name: string): Promise<CommitId | null>;
  /**
   * Keep it durably as `refs/notesd/review/<name>`, which travels with the branch.
   * @throws NotesError REPO_BUSY another Git holds the ref; STORAGE
   */
  setReviewMark(name: string, commit: CommitId): Promise<void>;

  /** Flush the work tree's base table and release what is held open. */
  close(): Promise<void>;
}

/** What a look at one working file found. */
export type DiskFile =
  | { readonly kind: "file"; readonly path: RepoPath; readonly blob: BlobId; readonly mtimeMs: number }
  | { readonly kind: "absent"; readonly path: RepoPath }
  /** A symlink, FIFO, hard link, oversize or non-UTF-8 file: never committed by us. */
  | { readonly kind: "unfit"; readonly path: RepoPath; readonly reason: string };

/**
 * The files that people edit. *base* is what a working file was last known to hold: kept durably by the
 * store, set when the store places a file, when a hand edit is adopted, and by `accept`.
 */
export interface WorkTree {
  /** Absolute folder of the working tree. */
  readonly root: string;
  base(path: RepoPath): BlobId | null;
  /** Paths with a base; of one folder and those below it when given. @cost then the folders there are, not the paths */
  basePaths(under?: string): Iterable<RepoPath>;
  /**
   * Look at the disk: given paths, or every `*.md` under the roots plus every base path. A path that is no
   * note's (outside of the roots, hidden) is left out: nobody shall adopt it.
   * Unchanged signatures (ino, size, mtime ns, ctime ns; older than 2 s) are not hashed again.
   * @cost one lstat a file, one read for each whose signature changed
   */
  scan(paths?: Iterable<RepoPath>): Promise<DiskFile[]>;
  /**
   * Look at the whole disk as `scan` does, in a thread of its own where it is large, and tell of the files that may
   * have changed since the last sweep that was read to its end: those of each folder in which anything did, and
   * base paths that are gone. A file may be told twice. One sweep at a time.
   *
   * @param afresh tell of every file
   * @cost one lstat a file; one read for each whose signature changed; here what is told
   */
  sweep(afresh: boolean): AsyncIterable<readonly DiskFile[]>;
  /** Note paths below a folder that exist on disk; for a hint that names a folder. */
  under(folder: string): Promise<RepoPath[]>;
  /** The bytes of a regular working file, or null when there is none. */
  read(path: RepoPath): Promise<Uint8Array | null>;
  /** Record that the working file holds `blob` (disk = tip): base follows. */
  accept(path: RepoPath, blob: BlobId | null): void;
  /**
   * Make the working file and its Git index entry hold `tip`, if the file still holds `expected`.
   * @returns false when a person saved meanwhile (their bytes stay) or the repository is not at our branch
   */
  bringForward(path: RepoPath, tip: BlobId | null, expected: BlobId | null): Promise<boolean>;
  /** Make the base table durable. */
  flush(): Promise<void>;
}
