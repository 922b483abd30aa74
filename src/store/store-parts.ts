/** The pieces that a store on disk is made of, opened once by `git-store.ts` and handed to each of its steps. */
import type { Clock } from "../lib/clock.ts";
import type { BaseTable } from "./base-table.ts";
import type { ForeignActivity } from "./foreign-activity.ts";
import type { GitIndex } from "./git-index.ts";
import type { GitLocks } from "./git-lock.ts";
import type { GitLog } from "./git-log.ts";
import type { Intents } from "./intents.ts";
import type { RepoState } from "./note-store.ts";
import type { GitObjects } from "./objects.ts";
import type { Step } from "./publication.ts";
import type { PathFilter } from "./tree-diff.ts";
import type { TreeChain } from "./trees.ts";
import type { StoreWorkTree } from "./work-tree.ts";

export interface StoreParts {
  readonly root: string;
  readonly gitdir: string;
  /** Full name, `refs/heads/…`. */
  readonly ref: string;
  readonly notes: PathFilter;
  readonly proofKey: Uint8Array;
  /** `core.fileMode`: Git looks at whether files are executable. */
  readonly fileModes: boolean;
  readonly clock: Clock;
  /** `relaxed`: the last sync of a group (the ref's folder) is not waited for. */
  readonly durability: "full" | "relaxed";
  readonly objects: GitObjects;
  readonly trees: TreeChain;
  readonly log: GitLog;
  readonly locks: GitLocks;
  readonly intents: Intents;
  readonly table: BaseTable;
  readonly workTree: StoreWorkTree;
  readonly foreign: ForeignActivity;
  readonly index: IndexCache;
  readonly state: () => RepoState;
  readonly onStep: (step: Step) => void;
  /** What went wrong after a commit point, where nobody waits for it any more. */
  readonly troubled: (what: string, error: unknown, outcome: string) => void;
}

/** The Git index as last read or written, while its file is still that one. */
export interface IndexCache {
  /** @throws NotesError STORAGE damaged or in a form that we don't write */
  read(): { readonly index: GitIndex; readonly signature: string };
  /** These bytes of ours were just renamed into place, and the lock is still held. */
  wrote(bytes: Buffer): void;
}
