/** The pieces that a store on disk is made of, opened once by `git-store.ts` and handed to each of its steps. */

import type { Clock } from "../lib/clock.ts";
import type { Intents } from "./commit/intents.ts";
import type { Step } from "./commit/publication.ts";
import type { BaseTable } from "./files/base-table.ts";
import type { StoreWorkTree } from "./files/work-tree.ts";
import type { GitIndex } from "./git-index/git-index.ts";
import type { GitLog } from "./history/git-log.ts";
import type { RepositoryHistory } from "./history/repository-log.ts";
import type { RepoState } from "./note-store.ts";
import type { GitObjects } from "./objects/objects.ts";
import type { BranchTip } from "./refs/branch-tip.ts";
import type { ForeignActivity } from "./refs/foreign-activity.ts";
import type { GitLocks } from "./refs/git-lock.ts";
import type { RefSync } from "./refs/ref-sync.ts";
import type { PathFilter } from "./trees/tree-diff.ts";
import type { TreeChain } from "./trees/trees.ts";

export interface StoreParts {
  readonly root: string;
  readonly gitdir: string;
  /** Full name, `refs/heads/…`. */
  readonly ref: string;
  readonly branch: BranchTip;
  readonly notes: PathFilter;
  readonly proofKey: Uint8Array;
  /** `core.fileMode`: Git looks at whether files are executable. */
  readonly fileModes: boolean;
  readonly clock: Clock;
  /** `relaxed`: the last sync of a group (the ref's folder) is not waited for. */
  readonly durability: "full" | "relaxed";
  readonly objects: GitObjects;
  readonly trees: TreeChain;
  readonly history: RepositoryHistory;
  readonly log: GitLog;
  readonly locks: GitLocks;
  readonly refSync: RefSync;
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
  /** This index of ours was just renamed into place, and the lock is still held. @returns the file's signature */
  wrote(index: GitIndex): string;
  /** Wait for what goes on beside the commits. */
  settled(): Promise<void>;
}
