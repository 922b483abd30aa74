/**
 * A process that does a scenario and is killed at its nth call that changes the disk. `act`: opened before, then
 * acts and closes. `open`: opens, which recovers, and closes. Prints the commits it was answered, and at last the
 * number of calls, when it lives so long.
 */
import { writeSync } from "node:fs";
import { NotesError } from "../../../src/domain/errors.ts";
import { diskError, tapFileSystem } from "./fs-tap.ts";
import { act, openFor, scenario } from "./scenarios.ts";

const [mode = "", root = "", name = "", nth = "0", torn = ""] = process.argv.slice(2);
const one = scenario(name);
let calls = 0;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("not reached");
}

const tap = () =>
  tapFileSystem(root, {
    before(call) {
      if (!call.mutates || ++calls !== Number(nth)) return null;
      if (torn !== "torn") die();
      return { error: diskError("EIO", call), done: "half", onDone: die };
    },
  });

async function work(): Promise<void> {
  if (mode === "open") tap();
  const store = await openFor(one, root);
  if (mode === "act") {
    tap();
    const publication = await act(one, store, root);
    for (const outcome of publication?.outcomes ?? []) {
      if (outcome.kind === "committed") writeSync(1, `${outcome.events.commit.id}\n`);
    }
  }
  await store.close();
  writeSync(1, `calls ${calls}\n`);
}

await work().catch((error: unknown) => {
  // Where somebody else refuses calls, being told so is right; anything but our own error is not.
  if (!(error instanceof NotesError && error.code === "STORAGE")) throw error;
  writeSync(1, "refused\n");
});
