/** A loop for work in spare turns that turns when told, with a clock of its own. */
import type { Loop } from "../../src/lib/spare-turns.ts";

/** A loop that turns when told, with a clock of its own. */
export function madeLoop() {
  let nowMs = 0;
  const due: { atMs: number; fn: () => void }[] = [];
  const add = (atMs: number, fn: () => void) => {
    const one = { atMs, fn };
    due.push(one);
    return () => {
      const at = due.indexOf(one);
      if (at >= 0) due.splice(at, 1);
    };
  };
  const loop: Loop = {
    nowMs: () => nowMs,
    soon: (fn) => add(nowMs, fn),
    after: (ms, fn) => add(nowMs + ms, fn),
  };
  return {
    loop,
    pass(ms: number) {
      nowMs += ms;
    },
    /** A turn, in which others take so long before it is ours. */
    turn(othersMs = 0) {
      nowMs += othersMs;
      for (const one of [...due]) {
        if (one.atMs > nowMs || !due.includes(one)) continue;
        due.splice(due.indexOf(one), 1);
        one.fn();
      }
    },
    waiting: () => due.map(({ atMs }) => atMs - nowMs),
  };
}
