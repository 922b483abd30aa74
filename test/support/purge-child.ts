/** A process that purges a value and dies when a step is reached for the nth time. */
import { purge } from "../../src/main/purge/purge.ts";

const [repo = "", value = "", step = "", nth = "1"] = process.argv.slice(2);
let left = Number(nth);
await purge(
  { repo },
  { env: process.env, cwd: repo, warn: () => {} },
  { values: [value], fingerprints: [], note: null, apply: true },
  (reached) => {
    if (reached === step && --left === 0) process.kill(process.pid, "SIGKILL");
  },
);
process.stdout.write("done\n");
