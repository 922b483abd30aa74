/**
 * A whole history read in a thread of its own while this one folds what came already: reading and proving is most
 * of the work, and the loop stays free for others. A short one is read in place.
 */
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { type ErrorCode, NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { CommitId } from "../../domain/note.ts";
import { workerFile } from "../../lib/thread.ts";
import { eventUnpacker } from "./event-batch.ts";
import type { GitLog } from "./git-log.ts";
import { type BlobBatch, type ReadAhead, readAhead } from "./read-ahead.ts";
import type { RepositoryHistory } from "./repository-log.ts";

export interface HistoryTask extends RepositoryHistory {
  readonly to: CommitId;
}

export type HistoryAnswer =
  | { readonly kind: "batch"; readonly text: string; readonly blobs: BlobBatch }
  | { readonly kind: "end" }
  | {
      readonly kind: "refused";
      readonly code: ErrorCode;
      readonly message: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "failed"; readonly message: string };

/** Starting a thread costs what some thousand commits do. */
const SHORT_COMMITS = 2_000;

/**
 * `history(null, to)` of a log, beside the loop when it is long. Errors are those of the log.
 * @param ahead  gets the blobs that a thread reads with it
 */
export function wholeHistory(
  log: GitLog,
  repository: RepositoryHistory,
  ahead: ReadAhead = readAhead(),
  file: URL = workerFile("history-worker", import.meta.url),
): (to: CommitId) => AsyncIterable<CommitEvents> {
  return async function* (to) {
    if (existsSync(file) && (await log.isLongerThan(SHORT_COMMITS, to)))
      yield* fromThread(file, { ...repository, proofKey: Uint8Array.from(repository.proofKey), to }, ahead);
    else yield* log.history(null, to);
  };
}

async function* fromThread(file: URL, task: HistoryTask, ahead: ReadAhead): AsyncGenerator<CommitEvents> {
  const held = ahead.open();
  const worker = new Worker(file, { workerData: task });
  const answers: HistoryAnswer[] = [];
  const unpack = eventUnpacker();
  let wake = () => {};
  const arrived = (answer: HistoryAnswer) => {
    answers.push(answer);
    wake();
  };
  worker.on("message", arrived);
  worker.on("error", (error) => arrived({ kind: "failed", message: error.message }));
  worker.on("exit", (code) => arrived({ kind: "failed", message: `the thread ended with ${code}` }));
  try {
    for (;;) {
      const answer = answers.shift();
      if (answer === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (answer.kind === "end") return;
      if (answer.kind === "refused") throw new NotesError(answer.code, answer.message, { ...answer.data });
      if (answer.kind === "failed") throw new Error(`reading history failed: ${answer.message}`);
      worker.postMessage("folded");
      held.put(answer.blobs);
      yield* unpack(answer.text);
    }
  } finally {
    held.close();
    await worker.terminate();
  }
}
