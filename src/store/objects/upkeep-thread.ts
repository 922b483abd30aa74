/**
 * Runs upkeep's work beside the event loop: a thread that is started for the first task and ends when none came for a
 * while.
 */
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { workerFile } from "../../lib/worker-file.ts";
import { asStorageError } from "../storage-error.ts";
import { doUpkeep, type UpkeepResult, type UpkeepTask } from "./upkeep-work.ts";

export interface UpkeepThread {
  /** One at a time. @throws NotesError STORAGE; Error damage, a thread that ended; "stopped" after `stop` */
  run(task: UpkeepTask): Promise<UpkeepResult>;
  /** End it, in the middle of a task too: that is as safe as a kill. */
  stop(): Promise<void>;
}

const IDLE_MS = 10_000;
const DOING = "putting packs together";

type Answer =
  | { readonly result: UpkeepResult }
  | { readonly error: string; readonly code: string | undefined };

/** @param file the thread's code; where it was never built the work is done in place */
export function upkeepThread(file: URL = workerFile("upkeep-worker", import.meta.url)): UpkeepThread {
  if (!existsSync(file)) return { run: inPlace, stop: async () => {} };
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let stopped = false;

  async function run(task: UpkeepTask): Promise<UpkeepResult> {
    if (stopped) throw new Error("upkeep was stopped");
    clearTimeout(idle);
    worker ??= new Worker(file);
    const running = worker;
    try {
      const answer = await answerOf(running, task);
      if ("result" in answer) return answer.result;
      throw asStorageError(Object.assign(new Error(answer.error), { code: answer.code }), DOING);
    } catch (error) {
      if (worker === running) worker = null;
      await running.terminate();
      throw error;
    } finally {
      idle = setTimeout(end, IDLE_MS);
      idle.unref();
    }
  }

  async function end(): Promise<void> {
    const ending = worker;
    worker = null;
    await ending?.terminate();
  }

  return {
    run,
    async stop() {
      stopped = true;
      clearTimeout(idle);
      await end();
    },
  };
}

function answerOf(worker: Worker, task: UpkeepTask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Each by itself: the worker has listeners of its own, without which it tells nothing more.
    const done = () => {
      worker.off("message", answered).off("error", failed).off("exit", ended);
    };
    const answered = (answer: Answer) => {
      done();
      resolve(answer);
    };
    const failed = (error: Error) => {
      done();
      // A broken thread's last word is told by whoever waits; nobody does any more.
      worker.on("error", () => {});
      reject(error);
    };
    const ended = (code: number) => {
      done();
      reject(new Error(`the thread ended with ${code}`));
    };
    worker.on("message", answered).on("error", failed).on("exit", ended);
    worker.postMessage(task);
  });
}

async function inPlace(task: UpkeepTask): Promise<UpkeepResult> {
  try {
    return doUpkeep(task);
  } catch (error) {
    throw asStorageError(error, DOING);
  }
}
