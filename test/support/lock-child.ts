/** A process that tries to take a lock, says `taken` or `held <pid>`, and obeys `release`, `block` and `end`. */
import { createInterface } from "node:readline";
import { takeProcessLock } from "../../src/lib/process-lock.ts";

const [folder = "", driver = "with"] = process.argv.slice(2);
const settings = driver === "with" ? {} : { sqlite: null };
const attempt = await takeProcessLock(folder, settings);
process.stdout.write(attempt.kind === "taken" ? "taken\n" : `held ${attempt.holder.pid}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "release" && attempt.kind === "taken") {
    attempt.lock.release();
    attempt.lock.release();
    process.stdout.write("released\n");
  }
  if (line === "block") {
    process.stdout.write("blocking\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  if (line === "end") process.exit(0);
});
