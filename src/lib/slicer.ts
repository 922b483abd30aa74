/** Long work in slices: the loop gets a turn every few milliseconds, so that sockets and timers are served. */

/** Longest stretch without a turn of the loop. */
const SLICE_MS = 5;

/** Start a slice; the returned function, called between two steps, gives a promise when it is time to pause. */
export function slicer(): () => Promise<void> | null {
  let startedMs = performance.now();
  return () => {
    if (performance.now() - startedMs < SLICE_MS) return null;
    return new Promise((resolve) => {
      setImmediate(() => {
        startedMs = performance.now();
        resolve();
      });
    });
  };
}
