/**
 * Runs upkeep's work beside the event loop: a thread that is started for the first task and ends when none came for a
 * while.
 */
import { existsSync } from "node:fs";
import { openThread, type Thread, workerFile } from "../../lib/thread.ts";
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
  const isBuilt = existsSync(file);
  let thread: Thread<UpkeepTask, Answer> | null = null;
  let idle: NodeJS.Timeout | undefined;
  let stopped = false;

  async function run(task: UpkeepTask): Promise<UpkeepResult> {
    if (stopped) throw new Error("upkeep was stopped");
    if (!isBuilt) return inPlace(task);
    clearTimeout(idle);
    // One that broke while nothing was asked is replaced.
    if (thread === null || thread.ended) thread = openThread({ file, name: "upkeep" });
    try {
      const answer = await thread.ask(task);
      if ("result" in answer) return answer.result;
      throw asStorageError(Object.assign(new Error(answer.error), { code: answer.code }), DOING);
    } finally {
      idle = setTimeout(() => void end(), IDLE_MS);
      idle.unref();
    }
  }

  async function end(): Promise<void> {
    const ending = thread;
    thread = null;
    await ending?.close();
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

async function inPlace(task: UpkeepTask): Promise<UpkeepResult> {
  try {
    return doUpkeep(task);
  } catch (error) {
    throw asStorageError(error, DOING);
  }
}
