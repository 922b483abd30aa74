/**
 * Work that nobody waits for: what was started is known until it ends, what failed is tried again after a while,
 * and one timer is set for what falls due next. What the work is, is not known here.
 */
import { NotesError } from "../../domain/errors.ts";
import type { Clock } from "../../lib/clock.ts";

/** Work that failed is tried again after this, doubled each time up to the second. */
const RETRY_MS = [1000, 30_000] as const;

export interface Background {
  /** Know of work until it ends. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Do what nobody waits for. A failure is reported (a busy repository is none); then what is due is tried again. */
  run(work: () => Promise<unknown>): Promise<void>;
  /** Set the timer for what falls due next, not sooner than `atLeastMs` from now. */
  schedule(atLeastMs: number): void;
  /** Resolves after `ms`, or when closed. */
  pause(ms: number): Promise<void>;
  readonly closed: boolean;
  /** Start nothing more, and wait for the end of what runs. */
  close(): Promise<void>;
}

export function createBackground(options: {
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
  /** When something falls due, ms since the epoch; null: nothing waits. */
  readonly nextMs: () => number | null;
  readonly due: () => Promise<unknown>;
}): Background {
  const { clock } = options;
  const running = new Set<Promise<unknown>>();
  const wakers = new Set<() => void>();
  let closed = false;
  let cancelTimer = () => {};
  let retryMs: number = RETRY_MS[0];

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    const done = () => void running.delete(work);
    work.then(done, done);
    return work;
  }

  async function run(work: () => Promise<unknown>): Promise<void> {
    if (closed) return;
    try {
      await track(work());
      retryMs = RETRY_MS[0];
      schedule(0);
    } catch (error) {
      if (!(error instanceof NotesError && error.code === "REPO_BUSY")) options.failed(error);
      schedule(retryMs);
      retryMs = Math.min(retryMs * 2, RETRY_MS[1]);
    }
  }

  function schedule(atLeastMs: number): void {
    cancelTimer();
    const nextMs = closed ? null : options.nextMs();
    if (nextMs === null) return;
    cancelTimer = clock.after(Math.max(atLeastMs, nextMs - clock.now()), () => void run(options.due));
  }

  return {
    track,
    run,
    schedule,
    pause: (ms) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          cancel();
          wakers.delete(wake);
          resolve();
        };
        const cancel = clock.after(ms, wake);
        wakers.add(wake);
      }),
    get closed() {
      return closed;
    },
    async close() {
      closed = true;
      cancelTimer();
      for (const wake of wakers) wake();
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
