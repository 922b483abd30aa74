/** What the notebook offers to whoever pushes: Git's hooks on its own machine, and smart HTTP. */
import type { CommitId } from "../../domain/note.ts";

/** A push of the branch that Git is about to carry out. */
export interface PushWish {
  /** Of receive-pack, on this machine. */
  readonly pid: number;
  /** Where that number counts (`pidSpace()`); null: not known. */
  readonly space: string | null;
  /** Where the pusher believes the branch to be; null: unborn. */
  readonly from: CommitId | null;
  readonly to: CommitId;
  /** Tracked files that native Git saw differ from HEAD. */
  readonly dirty: readonly string[];
  /** Ids that notes of the push bring to a path of theirs. */
  readonly ids: readonly { readonly id: string; readonly path: string }[];
}

/** A file that keeps a push waiting. */
export interface HeldBack {
  readonly path: string;
  readonly why: string;
  /** It waits for what it holds, and no commit can be asked for. */
  readonly secret?: true;
}

export type LeaseAnswer =
  /** Nobody else writes the branch until the push has ended. */
  | { readonly kind: "granted" }
  /** The branch is elsewhere by now. */
  | { readonly kind: "behind"; readonly tip: CommitId | null }
  /** Files hold edits that wait for a person: Git takes no push over them. */
  | { readonly kind: "held"; readonly files: readonly HeldBack[] }
  /** Ids of the push that other notes have. */
  | { readonly kind: "taken"; readonly ids: readonly { id: string; path: string; at: string }[] }
  /** Nothing can be pushed just now; `why` is a sentence. */
  | { readonly kind: "busy"; readonly why: string };

export interface PushSide {
  /**
   * Stop the writer for one push, after adopting every hand edit that can settle. It goes on when `ended` is called,
   * when the pushing process or its hook is gone, or after a minute.
   *
   * @param gone the hook went away without its answer: nothing is granted any more, and what was has ended
   */
  lease(wish: PushWish, gone: AbortSignal): Promise<LeaseAnswer>;
  /** The push of this process is done. @returns when index and subscribers know what it brought */
  ended(pid: number): Promise<void>;
  /** A person fetches or pushes: the writer leaves room for their Git. */
  personAtGit(): void;
  /** End every lease soon, for the daemon stops. */
  close(): void;
}
