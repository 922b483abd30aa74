/** How long a start takes, from making the process to an answer over the socket, against `git log --raw`. */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openSocket, startDaemon } from "../daemon.mjs";
import { median } from "../stats.mjs";

/**
 * @typedef {object} Start
 * @property {number} logRawMs
 * @property {number} warmMs  with the checkpoint, until a read is answered
 * @property {number} warmWriteMs  until a write is answered
 * @property {number} coldMs  without it, until a read is answered
 * @property {number} coldWriteMs
 * @property {number} warmTimes  of `git log --raw`, median of the rounds' ratios
 * @property {number} coldTimes
 */

/** @param {string} dir @param {number} rounds @returns {Promise<Start>} */
export async function measureStart(dir, rounds) {
  const checkpoint = join(dir, ".git/notesd/checkpoint");
  // A copy's files are other inodes: the first start looks into each, once.
  await startOnce(dir);
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    const logRawMs = logRaw(dir);
    if (!existsSync(checkpoint)) throw new Error("the daemon stopped and left no checkpoint to start from");
    const warm = await startOnce(dir);
    rmSync(checkpoint, { force: true });
    rows.push({ logRawMs, warm, cold: await startOnce(dir) });
  }
  const middle = (of) => median(rows.map(of));
  return {
    logRawMs: middle(({ logRawMs }) => logRawMs),
    warmMs: middle(({ warm }) => warm.readMs),
    warmWriteMs: middle(({ warm }) => warm.writeMs),
    coldMs: middle(({ cold }) => cold.readMs),
    coldWriteMs: middle(({ cold }) => cold.writeMs),
    warmTimes: middle(({ warm, logRawMs }) => warm.readMs / logRawMs),
    coldTimes: middle(({ cold, logRawMs }) => cold.readMs / logRawMs),
  };
}

function logRaw(dir) {
  const from = performance.now();
  const { status } = spawnSync("git", ["-C", dir, "log", "--raw"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`git log --raw ended with ${status}`);
  return performance.now() - from;
}

async function startOnce(dir) {
  const daemon = await startDaemon(dir, { probe: false });
  const socket = await openSocket(daemon);
  await socket.call("notes.list", { limit: 1 });
  const readMs = performance.now() - daemon.beganMs;
  await socket.call("notes.create", { title: "After a start", content: "Written as soon as it may be.\n" });
  const writeMs = performance.now() - daemon.beganMs;
  socket.close();
  await daemon.stop();
  return { readMs, writeMs };
}
