/** A note's history as Git tells it: `git log -- path`, a process each. */
import { git } from "../seed/write.mjs";

/**
 * @param {string} dir
 * @param {() => string} path
 * @param {{ ms: number, least: number }} how
 */
export function logOfPath(dir, path, { ms, least }) {
  const latencies = [];
  const began = performance.now();
  while (performance.now() - began < ms || latencies.length < least) {
    const from = performance.now();
    git(dir, "log", "--format=%H %an %at %s", "--", path());
    latencies.push(performance.now() - from);
  }
  return { ms: performance.now() - began, latencies };
}
