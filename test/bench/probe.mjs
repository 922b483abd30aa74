/**
 * Loaded into the daemon before anything of it (`node --import`): watches the product from outside, so that the
 * product needs nothing for it. Wraps the calls that make and remove Git's lock files and notes how long one or more
 * of ours stood; answers over the process's channel with these times and with its memory.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const isLock = (path) => typeof path === "string" && path.endsWith(".lock");
const standing = new Set();
let sinceMs = 0;
/** Milliseconds, one for each time from the first lock taken to the last one gone. */
let holds = [];

function taken(path) {
  if (!isLock(path)) return;
  if (standing.size === 0) sinceMs = performance.now();
  standing.add(path);
}

function gone(path) {
  if (standing.delete(path) && standing.size === 0) holds.push(performance.now() - sinceMs);
}

/** Only what succeeded counts. */
function wrapSync(name, after) {
  const real = fs[name];
  fs[name] = (...given) => {
    const result = real(...given);
    after(...given);
    return result;
  };
}

function wrapAsync(name, after) {
  const real = fs.promises[name];
  fs.promises[name] = async (...given) => {
    const result = await real(...given);
    after(...given);
    return result;
  };
}

for (const wrap of [wrapSync, wrapAsync]) {
  const end = wrap === wrapSync ? "Sync" : "";
  wrap(`link${end}`, (_from, to) => taken(to));
  wrap(`rename${end}`, (from, to) => {
    // A prepared file renamed over a lock of ours is that lock still.
    taken(to);
    gone(from);
  });
  wrap(`unlink${end}`, gone);
  wrap(`open${end}`, (path, flags) => {
    if (flags === "wx") taken(path);
  });
}
syncBuiltinESMExports();

process.on("message", ({ id, ask }) => {
  if (ask === "locks") {
    process.send?.({ id, value: holds });
    holds = [];
  } else {
    if (ask === "memory") {
      globalThis.gc?.();
      globalThis.gc?.();
    }
    process.send?.({ id, value: process.memoryUsage() });
  }
});
// The channel must not keep a daemon that was told to stop.
process.channel?.unref();
