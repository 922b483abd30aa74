/**
 * Files derived from the index, written when the notebook is quiet: the checkpoint that makes the next start
 * quick, and `notes_index.json` for other tools. Losing either loses nothing.
 */

import type { Warn } from "../lib/bus.ts";
import type { Clock } from "../lib/clock.ts";

/** A file that follows the index. */
interface DerivedFile {
  readonly path: string;
  /** Bring it up to date. Calls don't overlap; what it throws is told to people. */
  readonly write: () => Promise<void>;
}

export interface Housekeeping {
  /** The index changed. */
  touched(): void;
  /** Write what changed since the last time, now. */
  flush(): Promise<void>;
}

/** After this long without a change the files are written. */
const QUIET_MS = 5_000;
/** And never more often than this. */
const AT_MOST_EVERY_MS = 60_000;

/** Keep derived files. Nothing is written before the first `touched`. */
export function createHousekeeping(files: readonly DerivedFile[], clock: Clock, warn: Warn): Housekeeping {
  let stale = false;
  let writtenMs = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    if (!stale) return;
    stale = false;
    writtenMs = clock.now();
    for (const { path, write } of files) {
      try {
        await write();
      } catch (error) {
        warn("a derived file could not be written", {
          trigger: path,
          why: error instanceof Error ? error.message : String(error),
          outcome: "nothing is lost; it is written again after the next change",
        });
      }
    }
  }

  function flush(): Promise<void> {
    cancel?.();
    cancel = null;
    writing = writing.then(writeAll);
    return writing;
  }

  return {
    touched() {
      stale = true;
      cancel?.();
      const earliestMs = writtenMs + AT_MOST_EVERY_MS - clock.now();
      cancel = clock.after(Math.max(QUIET_MS, earliestMs), () => void flush());
    },
    flush,
  };
}
