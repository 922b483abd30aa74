/** What is asked of a sync, and what became of it. */
import type { CommitId } from "../../domain/note.ts";
import type { SyncState } from "../../domain/sync-state.ts";

export interface SyncWish {
  /** A name of Git's config, or what the setting says. */
  readonly remote: string;
  /** A person's way out of `diverged`. */
  readonly diverged?: "accept_remote" | "keep_local";
}

export interface SyncResult {
  /** The name, or the URL without credentials. */
  readonly remote: string;
  readonly state: SyncState;
  /** Commits that only we have, and that only the remote has, as last seen. */
  readonly ahead: number;
  readonly behind: number;
  /** Commits taken in and given in this run. */
  readonly pulled: number;
  readonly pushed: number;
  /** Conflicts kept here, of whatever origin. */
  readonly conflicts: number;
  readonly head: CommitId | null;
  /** Why it is not `ok`; with `ok`, what of the remote was left where it is. */
  readonly message: string | null;
  /** When it ended, ISO 8601. */
  readonly at: string | null;
}

/** What callers ask of sync. */
export interface Sync {
  /** @throws NotesError NOT_CONFIGURED no remote is named and none is set; INVALID_PARAMS */
  run(wish: Partial<SyncWish>): Promise<SyncResult>;
  /** The last one's result with what changed here since. @throws NotesError NOT_CONFIGURED */
  status(remote?: string): Promise<SyncResult>;
}
