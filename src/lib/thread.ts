/**
 * A thread that is asked and answers, one question after the other. What its code does is the worker file's.
 * Invariant: each question gets an answer or a reason, and whatever ends the thread is heard, between questions too.
 */
import { Worker } from "node:worker_threads";

/**
 * The file to give to a thread. A worker of Node reads no TypeScript, so that what runs from source takes the
 * built file, which `npm run build` puts at the same place under `dist`.
 *
 * @param name without ending, e.g. `scan-worker`
 * @param from `import.meta.url` of the module beside it
 */
export function workerFile(name: string, from: string): URL {
  const beside = new URL(`${name}.js`, from);
  if (!from.endsWith(".ts")) return beside;
  const at = beside.href.lastIndexOf("/src/");
  return new URL(`${beside.href.slice(0, at)}/dist/${beside.href.slice(at + "/src/".length)}`);
}

interface ThreadOptions {
  readonly file: URL;
  /** Given to the worker as `workerData`. */
  readonly data?: unknown;
  /** Told in errors and to debuggers. */
  readonly name: string;
}

export interface Thread<Ask, Answer> {
  /** Whether it runs no more; whoever needs it opens another. */
  readonly ended: boolean;
  /**
   * Ask, and wait for the answers to what was asked before. The process stays as long.
   * @throws the error that ended the thread, or that it was closed
   */
  ask(question: Ask): Promise<Answer>;
  /** End it, in the middle of an answer too, which is then an error. May be called twice. */
  close(): Promise<void>;
}

interface Waiting<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Start a thread whose code posts one answer for each message, in order. */
export function openThread<Ask, Answer>({ file, data, name }: ThreadOptions): Thread<Ask, Answer> {
  const worker = new Worker(file, { name, workerData: data, execArgv: [] });
  const waiting: Waiting<Answer>[] = [];
  let reason: Error | null = null;

  function end(error: Error): void {
    reason ??= error;
    for (const one of waiting.splice(0)) one.reject(reason);
  }

  worker.on("message", (answer: Answer) => {
    const asked = waiting.shift();
    if (waiting.length === 0) worker.unref();
    asked?.resolve(answer);
  });
  worker.on("error", (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on("messageerror", (error) => {
    end(error);
    void worker.terminate();
  });
  worker.on("exit", (code) => end(new Error(`the ${name} thread ended with code ${code}`)));
  // Last: to listen for messages is to stay.
  worker.unref();

  return {
    get ended() {
      return reason !== null;
    },
    ask(question) {
      if (reason !== null) return Promise.reject(reason);
      return new Promise<Answer>((resolve, reject) => {
        // What can't be sent is thrown here, and nothing waits for its answer.
        worker.postMessage(question);
        waiting.push({ resolve, reject });
        // Whoever waits may have nothing else that keeps the process.
        worker.ref();
      });
    },
    async close() {
      end(new Error(`the ${name} thread was closed`));
      await worker.terminate();
    },
  };
}
