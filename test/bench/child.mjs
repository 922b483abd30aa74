/** A helper process that is told commands and answers each. */
import { fork } from "node:child_process";

const CLOSE_WITHIN_MS = 120_000;

/**
 * @param {URL} module  answers `{id, command, given}` with `{id, value}` or `{id, error}`
 * @returns {{ tell: (command: string, given?: object) => Promise<any>, end: () => Promise<void> }}
 */
export function forkChild(module) {
  const child = fork(module, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const waiting = new Map();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let next = 0;
  child.on("message", ({ id, value, error }) => {
    const [resolve, reject] = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  });
  child.once("exit", (code) => {
    for (const [, reject] of waiting.values()) reject(new Error(`${module.pathname} ended with ${code}`));
  });
  return {
    tell: (command, given = {}) =>
      new Promise((resolve, reject) => {
        const id = ++next;
        waiting.set(id, [resolve, reject]);
        child.send({ id, command, given });
      }),
    /** Have it close what it opened, and end. @throws Error when it can't within `CLOSE_WITHIN_MS` */
    async end() {
      const late = new Promise((_, reject) => {
        const text = `${module.pathname} did not close within ${CLOSE_WITHIN_MS / 1000} s`;
        setTimeout(() => reject(new Error(text)), CLOSE_WITHIN_MS).unref();
      });
      await Promise.race([this.tell("close"), late]);
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
