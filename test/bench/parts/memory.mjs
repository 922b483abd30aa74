/** What a note costs in memory beside its text: a daemon that holds them, less one that holds none, less the text. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openSocket, startDaemon } from "../daemon.mjs";
import { init } from "../seed/write.mjs";

/** @typedef {{ rssMb: number, heapMb: number, textMb: number, emptyRssMb: number, emptyHeapMb: number, heapBytesANote: number, rssBytesANote: number }} Memory */

/** Heap and what lies outside of it, after collecting; searched once, so that the words are indexed. */
async function settled(daemon) {
  const socket = await openSocket(daemon);
  await socket.call("notes.search", { query: "migration" });
  socket.close();
  const { heapUsed, external, rss } = await daemon.ask("memory");
  return { heap: heapUsed + external, rss };
}

/** @param {string} dir  a folder to be @returns what a daemon without notes takes */
export async function measureEmpty(dir) {
  init(dir);
  const daemon = await startDaemon(dir);
  const empty = await settled(daemon);
  await daemon.stop();
  rmSync(dir, { recursive: true, force: true });
  return empty;
}

/**
 * @param {import("../daemon.mjs").Daemon} daemon  just started, from its checkpoint
 * @param {string} dir
 * @param {readonly string[]} paths  of its notes
 * @param {Awaited<ReturnType<typeof measureEmpty>>} empty
 * @returns {Promise<Memory>}
 */
export async function measureMemory(daemon, dir, paths, empty) {
  const { heap, rss } = await settled(daemon);
  const text = paths.reduce((sum, path) => sum + statSync(join(dir, path)).size, 0);
  const mb = (bytes) => bytes / 1e6;
  return {
    rssMb: mb(rss),
    heapMb: mb(heap),
    textMb: mb(text),
    emptyRssMb: mb(empty.rss),
    emptyHeapMb: mb(empty.heap),
    heapBytesANote: (heap - empty.heap - text) / paths.length,
    rssBytesANote: (rss - empty.rss - text) / paths.length,
  };
}
