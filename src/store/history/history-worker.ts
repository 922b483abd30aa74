/**
 * The thread that reads a long history: told which by `workerData`, it posts batches and waits for room between
 * them. Started and ended by `history-thread.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { NotesError } from "../../domain/errors.ts";
import { gitObjects } from "../objects/objects.ts";
import { asStorageError } from "../storage-error.ts";
import { packEvents } from "./event-batch.ts";
import type { HistoryAnswer, HistoryTask } from "./history-thread.ts";
import { blobBatch } from "./read-ahead.ts";
import { openRepositoryLog } from "./repository-log.ts";

/** Batches that may wait to be folded. */
const AHEAD = 8;

async function tell(
  post: (answer: HistoryAnswer, moved?: ArrayBuffer) => void,
  room: () => Promise<void>,
): Promise<void> {
  // Given by `history-thread.ts` alone.
  const task = workerData as HistoryTask;
  // All of it is looked up, some objects of each commit, and the thread ends when it is read.
  const whole = gitObjects(task.gitdir, { idxHeldBytes: Number.POSITIVE_INFINITY });
  const { log, objects } = openRepositoryLog(task, whole);
  for await (const { text, written } of packEvents(log.history(null, task.to))) {
    const blobs = blobBatch(written, (id) => objects.read("blob", id));
    await room();
    post({ kind: "batch", text, blobs }, blobs.bytes.buffer);
  }
  objects.close();
  post({ kind: "end" });
}

const port = parentPort;
if (port !== null) {
  let free = AHEAD;
  let wake: (() => void) | null = null;
  port.on("message", () => {
    free++;
    wake?.();
  });
  const room = async () => {
    while (free <= 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    free--;
  };
  tell((answer, moved) => port.postMessage(answer, moved ? [moved] : []), room).catch((error: unknown) => {
    const told = asStorageError(error, "reading history");
    // An error's own fields don't cross.
    const answer: HistoryAnswer =
      told instanceof NotesError
        ? { kind: "refused", code: told.code, message: told.message, data: told.data }
        : { kind: "failed", message: told instanceof Error ? told.message : String(told) };
    port.postMessage(answer);
  });
}
