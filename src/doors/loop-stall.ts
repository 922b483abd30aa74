/** How long the event loop stood still: while it does, the kernel's queue of file events may overflow unseen. */
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface StallMeter {
  /** The longest stall since the last call, ms; what happened before the first call doesn't count. */
  takeMs(): number;
  close(): void;
}

const RESOLUTION_MS = 20;

/** Measure from now on. @cost one timer every 20 ms */
export function loopStall(): StallMeter {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return {
    takeMs() {
      const longestMs = delays.max / 1e6 - RESOLUTION_MS;
      delays.reset();
      return longestMs;
    },
    close: () => void delays.disable(),
  };
}
