/**
 * The thread that scans: asked for the next changed folders or for what files hold, it answers each in turn.
 * It remembers nothing between scans; an error ends it, and `scanner.ts` hears of that.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { RepoPath } from "../../domain/note.ts";
import { openScan, type ScanWork } from "./scan.ts";

/** What the thread is asked for: the next of the walk, or a look at files. */
export type ScanRequest = "walk" | readonly RepoPath[];

/** So many files in one answer: taking it apart must not hold up who asked. */
const ANSWER_FILES = 1024;

if (parentPort !== null) {
  const port = parentPort;
  // Given by scanner.ts, which alone starts this.
  const scan = openScan(workerData as ScanWork);
  port.on("message", (request: ScanRequest) => {
    port.postMessage(
      request === "walk" ? scan.walk((told) => told >= ANSWER_FILES) : request.map((path) => scan.look(path)),
    );
  });
}
