/** A token bucket: so many a second on average, and a burst of what was not taken before. The clock comes in. */
import type { Clock } from "./clock.ts";

export interface TokenBucket {
  /** Take one. @returns 0 when it was there, else the milliseconds until one is */
  take(): number;
  /** Whether nothing was taken for so long that it is as new. */
  readonly isFull: boolean;
}

/** @param perSecond over 0 @param burst at most so many at once, at least 1 */
export function tokenBucket(clock: Pick<Clock, "now">, perSecond: number, burst: number): TokenBucket {
  const most = Math.max(1, burst);
  // What fractions of a millisecond lose in a sum is nobody's wait.
  const whole = 1 - 1e-6;
  let held = most;
  let atMs = clock.now();
  const fill = () => {
    const nowMs = clock.now();
    // A clock set back gives nothing, and takes nothing away.
    if (nowMs > atMs) held = Math.min(most, held + ((nowMs - atMs) / 1000) * perSecond);
    atMs = nowMs;
  };
  return {
    take() {
      fill();
      if (held < whole) return Math.max(1, Math.ceil(((whole - held) / perSecond) * 1000));
      held = Math.max(0, held - 1);
      return 0;
    },
    get isFull() {
      fill();
      return held >= most * whole;
    },
  };
}
