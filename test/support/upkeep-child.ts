/** A process that looks after a repository's packs once, and dies when a given step is reached. */
import { writeSync } from "node:fs";
import { doUpkeep } from "../../src/store/objects/upkeep-work.ts";

const [gitdir = "", step = ""] = process.argv.slice(2);
const { removed } = doUpkeep(
  { kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null },
  (reached) => {
    if (reached === step) process.kill(process.pid, "SIGKILL");
  },
);
writeSync(1, `${removed}\n`);
