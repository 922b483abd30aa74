/** The least that a search without an index must do: read each file and look for the bytes, in process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @param {string} dir
 * @param {readonly string[]} paths
 * @param {{ ms: number, least: number, query: () => string }} how
 */
export function scanFiles(dir, paths, { ms, least, query }) {
  const latencies = [];
  const began = performance.now();
  while (performance.now() - began < ms || latencies.length < least) {
    const wanted = query()
      .split(" ")
      .map((text) => Buffer.from(text));
    const from = performance.now();
    paths.filter((path) => {
      const bytes = readFileSync(join(dir, path));
      return wanted.every((word) => bytes.includes(word));
    });
    latencies.push(performance.now() - from);
  }
  return { ms: performance.now() - began, latencies };
}
