/** The thread that does upkeep's work: one task in, one result or error out. Started by `upkeep-thread.ts`. */
import { parentPort } from "node:worker_threads";
import { doUpkeep, type UpkeepTask } from "./upkeep-work.ts";

parentPort?.on("message", (task: UpkeepTask) => {
  try {
    parentPort?.postMessage({ result: doUpkeep(task) });
  } catch (error) {
    // An error's own fields don't cross: what tells ENOSPC from damage is its code.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error), code });
  }
});
