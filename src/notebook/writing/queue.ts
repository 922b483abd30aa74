/**
 * The one queue of the single writer. Jobs run alone, in order; writes that wait are taken together, up to
 * a group. Nothing here knows what a write is. Invariant: at any moment at most one job or group runs.
 */
import { NotesError } from "../../domain/errors.ts";

interface WriteQueue<W> {
  /** Add a write to the next group. @throws NotesError OVERLOADED when `maxWaiting` writes wait */
  push(write: W): void;
  /** Put writes back at the front, in order; used when a draft lost a race. */
  putBack(writes: readonly W[]): void;
  /** Run a job alone between groups. A rejected job rejects only its own promise. */
  alone<T>(job: () => Promise<T>): Promise<T>;
  /** Refuse new writes, then resolve when everything accepted has run. */
  drain(): Promise<void>;
  readonly waiting: number;
}

/**
 * @param runGroup carries out 1..maxGroup writes and answers each itself; it never rejects
 * @param gather   resolves when a group may be taken: while one group is made durable the next gathers. It is called
 *   anew after a job that came meanwhile, for a job goes before writes that only wait; it never rejects
 */
export function createWriteQueue<W>(options: {
  readonly maxGroup: number;
  readonly maxWaiting: number;
  readonly runGroup: (writes: readonly W[]) => Promise<void>;
  readonly gather: () => Promise<void>;
}): WriteQueue<W> {
  const writes: W[] = [];
  const jobs: (() => Promise<void>)[] = [];
  let running = false;
  let closed = false;
  let jobCame = () => {};
  let idle: (() => void)[] = [];

  /** @returns false: a job came before the group was ready */
  async function gathered(): Promise<boolean> {
    let ready = false;
    const called = new Promise<void>((resolve) => {
      jobCame = resolve;
    });
    await Promise.race([called, options.gather().then(() => (ready = true))]);
    return ready;
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    while (jobs.length > 0 || writes.length > 0) {
      const job = jobs.shift();
      if (job) {
        await job();
        continue;
      }
      if (await gathered()) await options.runGroup(writes.splice(0, options.maxGroup));
    }
    running = false;
    const waiters = idle;
    idle = [];
    for (const resolve of waiters) resolve();
  }

  return {
    get waiting() {
      return writes.length;
    },
    push(write) {
      if (closed) {
        throw new NotesError(
          "OVERLOADED",
          "The daemon is stopping and takes no more writes. Reconnect and try again.",
          {
            retry_after_ms: 1000,
          },
        );
      }
      if (writes.length >= options.maxWaiting) {
        throw new NotesError(
          "OVERLOADED",
          `${writes.length} writes are waiting already, more than this daemon accepts. Try again after a pause.`,
          { retry_after_ms: 500 },
        );
      }
      writes.push(write);
      void run();
    },
    putBack(again) {
      writes.unshift(...again);
    },
    alone(job) {
      return new Promise((resolve, reject) => {
        jobs.push(() => job().then(resolve, reject));
        jobCame();
        void run();
      });
    },
    async drain() {
      closed = true;
      if (running) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}
