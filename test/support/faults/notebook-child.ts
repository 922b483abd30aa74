/**
 * A process that opens a notebook, creates some notes and closes it, and is killed at its nth call that changes one of
 * the notebook's own files. Prints each answer, and at last the number of such calls, when it lives so long.
 */

import { writeSync } from "node:fs";
import { diskError, tapFileSystem } from "./fs-tap.ts";
import { createSome, isStateFile, openWhole } from "./whole-notebook.ts";

const [root = "", nth = "0", torn = ""] = process.argv.slice(2);
let calls = 0;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("not reached");
}

tapFileSystem(root, {
  before(call) {
    if (!call.mutates || !isStateFile(call.path) || ++calls !== Number(nth)) return null;
    if (torn !== "torn") die();
    return { error: diskError("EIO", call), done: "half", onDone: die };
  },
});
const opened = await openWhole(root, 1);
await createSome(opened, (answered) => writeSync(1, `${JSON.stringify(answered)}\n`));
await opened.notebook.close();
writeSync(1, `calls ${calls}\n`);
