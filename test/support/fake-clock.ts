/** A clock that moves only when told, and runs what falls due on the way. */
import type { Clock } from "../../src/lib/clock.ts";

export interface FakeClock extends Clock {
  /** Move on and run what falls due, in order. */
  advance(ms: number): void;
  /** How many timers wait. */
  readonly waiting: number;
}

export function fakeClock(startMs = Date.UTC(2026, 10, 30, 10, 15)): FakeClock {
  let nowMs = startMs;
  let timers: { atMs: number; fn: () => void }[] = [];
  return {
    now: () => nowMs,
    after(ms, fn) {
      const timer = { atMs: nowMs + ms, fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const next = timers.filter((timer) => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        nowMs = next.atMs;
        next.fn();
      }
      nowMs = untilMs;
    },
    get waiting() {
      return timers.length;
    },
  };
}
