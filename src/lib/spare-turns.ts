/**
 * Work that nobody waits for, a step a turn, in turns that nobody else wants: while the loop does nothing else one
 * step follows the other, beside others it rests between them. A request takes some twenty turns of the loop, so
 * a step in each of them would be added to it twenty times. Invariant: at most one step is ever under way.
 */

/** A turn that came back later than this had somebody else in it. */
const OTHERS_MS = 0.25;

/** The loop, as far as it is used here; what is begun keeps no process alive unless it is `held`. */
export interface Loop {
  nowMs(): number;
  /** In the next turn. @returns what calls it off */
  soon(fn: () => void, held: boolean): () => void;
  after(ms: number, fn: () => void): () => void;
}

export interface SpareTurns {
  /** There is work. Does nothing when it is known already. */
  wake(): void;
  /** Somebody waits now: the next step is in the next turn. */
  hurry(): void;
}

interface Work {
  /** Do some of it: a few milliseconds. @returns whether there is more; what it throws ends the work until `wake` */
  step(): boolean;
  /** Somebody waits: no rest is taken. */
  isHurried(): boolean;
  /** The share of the time that may be taken beside others; over 0, at most 1. */
  share(): number;
}

/** The loop of this process. */
export const nodeLoop: Loop = {
  nowMs: () => performance.now(),
  soon(fn, held) {
    const turn = setImmediate(fn);
    if (!held) turn.unref();
    return () => clearImmediate(turn);
  },
  after(ms, fn) {
    const timer = setTimeout(fn, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Take the turns for one kind of work. Nothing runs before `wake`. */
export function spareTurns(work: Work, loop: Loop = nodeLoop): SpareTurns {
  let cancel: (() => void) | null = null;
  /** The next turn is taken, for somebody who waits. */
  let isHeld = false;

  function next(fn: () => void): void {
    isHeld = work.isHurried();
    cancel = loop.soon(fn, isHeld);
  }

  function run(): void {
    cancel = null;
    isHeld = false;
    const beganMs = loop.nowMs();
    if (!work.step()) return;
    const endedMs = loop.nowMs();
    next(() => {
      const others = loop.nowMs() - endedMs > OTHERS_MS;
      if (!others || work.isHurried()) run();
      else cancel = loop.after(Math.ceil((endedMs - beganMs) * (1 / work.share() - 1)), run);
    });
  }

  return {
    wake() {
      if (cancel === null) next(run);
    },
    hurry() {
      if (isHeld) return;
      cancel?.();
      next(run);
    },
  };
}
