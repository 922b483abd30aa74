/** Who carries out a scan: a thread of its own, or this one in slices where there is little to do. */
import type { RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import { openThread, workerFile } from "../../lib/thread.ts";
import { openScan, type ScanWork, type Seen, type Walked } from "./scan.ts";
import type { ScanRequest } from "./scan-worker.ts";

/** One call at a time. */
export interface Scanner {
  /** The next of the walk. @throws NotesError STORAGE; whatever ended the thread */
  walk(): Promise<Walked>;
  /** What these files hold. @returns one each, in order */
  look(paths: readonly RepoPath[]): Promise<readonly Seen[]>;
  close(): void;
}

/** Scan here: the loop gets a turn every few milliseconds. */
export function sliceScanner(work: ScanWork, nowMs = Date.now): Scanner {
  const scan = openScan(work, nowMs);
  const turn = slicer();
  return {
    async walk() {
      let pause: Promise<void> | null = null;
      const walked = scan.walk(() => {
        pause = turn();
        return pause !== null;
      });
      await pause;
      return walked;
    },
    async look(paths) {
      const seen: Seen[] = [];
      for (const path of paths) {
        seen.push(scan.look(path));
        const pause = turn();
        if (pause !== null) await pause;
      }
      return seen;
    },
    close() {},
  };
}

/** Scan in a thread that keeps no process alive but while an answer is awaited. @param file its code; tests give another */
export function threadScanner(
  work: ScanWork,
  file: URL = workerFile("scan-worker", import.meta.url),
): Scanner {
  const thread = openThread<ScanRequest, unknown>({ file, data: work, name: "scanning" });
  return {
    // scan-worker.ts answers each kind of request with these.
    walk: async () => (await thread.ask("walk")) as Walked,
    look: async (paths) => (await thread.ask(paths)) as readonly Seen[],
    close: () => void thread.close(),
  };
}
