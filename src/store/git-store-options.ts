/** What a store on a repository is opened with. */
import type { Warn } from "../lib/bus.ts";
import type { Clock } from "../lib/clock.ts";
import type { Step } from "./commit/publication.ts";

export interface GitStoreOptions {
  /** Absolute folder of the working tree. */
  readonly root: string;
  /** Absolute Git directory. */
  readonly gitdir: string;
  /** Short name, e.g. `main`. */
  readonly branch: string;
  readonly roots: readonly string[];
  /** 32 bytes. */
  readonly proofKey: Uint8Array;
  readonly clock?: Clock;
  /** How long a person's lock is waited for; default 5,000. */
  readonly lockWaitMs?: number;
  /** Larger working files are unfit; default 256 KiB. */
  readonly maxNoteBytes?: number;
  /** `relaxed` answers before the branch's folder is synced; default `full`. */
  readonly durability?: "full" | "relaxed";
  /** Entries from which on the Git index stands on a shared one, where `notesd.splitIndex` allows it. */
  readonly splitIndexFrom?: number;
  /** At most one publication in this time while a person's Git is at work, which doesn't wait for
   * `index.lock`; default 1,000. */
  readonly besideGitMs?: number;
  /** For native Git, where a push was killed half-way; default: nothing. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Called at each step of a commit; tests end the process there. */
  readonly onStep?: (step: Step) => void;
  /** Told of what went wrong when a commit stood already; default: nobody. */
  readonly warn?: Warn;
}
