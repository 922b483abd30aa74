/** isomorphic-git as its documentation shows it: `add`, then `commit`, one cache for all calls. It never syncs a file. */
import fs, { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iso from "isomorphic-git";
import { noteFile } from "./note-file.mjs";

const author = { name: "Bench", email: "bench@example.com" };

/** @param {string} dir */
export function openIsomorphic(dir) {
  const cache = {};
  /** @param {{ ms: number, least: number }} how @returns {Promise<{ ms: number, latencies: number[] }>} */
  return async ({ ms, least }) => {
    const latencies = [];
    const began = performance.now();
    while (performance.now() - began < ms || latencies.length < least) {
      const { path, title, text } = noteFile();
      const from = performance.now();
      mkdirSync(join(dir, path, ".."), { recursive: true });
      writeFileSync(join(dir, path), text);
      await iso.add({ fs, dir, filepath: path, cache });
      await iso.commit({ fs, dir, message: `create(general): ${title}\n`, author, cache });
      latencies.push(performance.now() - from);
    }
    return { ms: performance.now() - began, latencies };
  };
}
