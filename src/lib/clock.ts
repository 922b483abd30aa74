/** Time as a parameter: everything that waits or stamps asks a Clock, so that a test can hold time still. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Call `fn` once after `ms` milliseconds; the returned function cancels it and may be called twice. */
  after(ms: number, fn: () => void): () => void;
}

/** The machine's own clock. Its timers don't keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
