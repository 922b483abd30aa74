/** Native Git as a person's script would use it: write the file, `git add`, `git commit`, a process each. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../seed/write.mjs";
import { noteFile } from "./note-file.mjs";

/** Make a copy of a bench repository plain: same fsync as ours, no hooks of ours, nothing in the background. */
export function makePlain(dir) {
  git(dir, "config", "core.fsync", "committed,reference");
  git(dir, "config", "gc.auto", "0");
  git(dir, "config", "fastimport.unpackLimit", "1");
  git(dir, "config", "--unset-all", "core.hooksPath");
}

/**
 * @param {string} dir
 * @param {{ ms: number, least: number }} how  for so long, and so many commits at least
 * @returns {{ ms: number, latencies: number[] }}
 */
export function nativeCommits(dir, { ms, least }) {
  const latencies = [];
  const began = performance.now();
  while (performance.now() - began < ms || latencies.length < least) {
    const { path, title, text } = noteFile();
    const from = performance.now();
    mkdirSync(join(dir, path, ".."), { recursive: true });
    writeFileSync(join(dir, path), text);
    git(dir, "add", path);
    git(dir, "commit", "-qm", `create(general): ${title}`);
    latencies.push(performance.now() - from);
  }
  return { ms: performance.now() - began, latencies };
}
