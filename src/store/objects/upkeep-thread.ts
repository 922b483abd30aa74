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
    // It has ended by itself.
    if (worker?.threadId === -1) worker = null;
    worker ??= startWorker(file);
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

function startWorker(file: URL): Worker {
  const worker = new Worker(file);
  // The process may end beside it: that is as safe as a kill.
  worker.unref();
  // One that breaks between two tasks is found by the next.
  worker.on("error", () => {});
  return worker;
}

/** Listeners are taken off one by one: a Worker keeps some of its own, without which it delivers nothing more. */
function answerOf(worker: Worker, task: UpkeepTask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answered = (answer: Answer) => {
      done();
      resolve(answer);
    };
    const broken = (error: Error) => {
      done();
      reject(error);
    };
    const ended = (code: number) => broken(new Error(`the thread ended with ${code}`));
    const done = () => worker.off("message", answered).off("error", broken).off("exit", ended);
    worker.on("message", answered).on("error", broken).on("exit", ended);
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
