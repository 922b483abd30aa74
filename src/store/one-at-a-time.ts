/** The store's queue: commits, repairs and whatever else moves refs, files or the Git index never overlap. */
import { withStorageErrors } from "./storage-error.ts";

const LONGEST_TIMER_MS = 0x7fffffff;

/** Runs work while no other is under way. @throws NotesError STORAGE what the disk refuses */
export type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * One piece of work at a time, in the order of asking; one that fails doesn't stop the next. What the disk refuses is
 * STORAGE. While there is any the process stays: a clock's timers alone would let it end in the middle of waiting for
 * a lock.
 */
export function oneAtATime(): Alone {
  let last: Promise<unknown> = Promise.resolve();
  let pending = 0;
  let stay: NodeJS.Timeout | undefined;
  const done = () => {
    if (--pending === 0) clearInterval(stay);
  };
  return (work) => {
    if (++pending === 1) stay = setInterval(() => {}, LONGEST_TIMER_MS);
    const told = () => withStorageErrors("working on the repository", work);
    const mine = last.then(told, told);
    last = mine.then(done, done);
    return mine;
  };
}
