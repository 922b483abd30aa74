import { expect, test } from "vitest";
import { openThread } from "../../src/lib/thread.ts";
import { until } from "../support/wait.ts";

/** A thread that does this with each message. */
const thread = (code: string, data?: unknown) =>
  openThread<unknown, unknown>({
    file: new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from "node:worker_threads"; const say = (it) => parentPort.postMessage(it); ${code}`)}`,
    ),
    data,
    name: "test",
  });

test("several questions are answered in their order, with what the thread was given", async () => {
  const asked = thread("parentPort.on('message', (n) => say(n + workerData))", 10);
  expect(await Promise.all([1, 2, 3].map((n) => asked.ask(n)))).toEqual([11, 12, 13]);
  expect(await asked.ask(4)).toBe(14);
  await asked.close();
});

test("what ends a thread is the answer to all that waits, and to whatever is asked later", async () => {
  const asked = thread("parentPort.on('message', () => { throw new Error('broken') })");
  const outcomes = await Promise.allSettled([asked.ask(1), asked.ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(asked.ask(3)).rejects.toThrow("broken");
  expect(asked.ended).toBe(true);
  await asked.close();
});

test.each([
  ["an error", "throw new Error('late')", "late"],
  ["an exit", "process.exit(3)", "the test thread ended with code 3"],
])("%s between two questions is heard, and refuses the next", async (_, code, why) => {
  const asked = thread(`parentPort.on('message', (n) => { say(n); setImmediate(() => { ${code} }) })`);
  expect(await asked.ask(1)).toBe(1);
  await until("it to end", () => asked.ended);
  await expect(asked.ask(2)).rejects.toThrow(why);
});

test("closed in the middle of an answer it refuses that one and every other", async () => {
  const asked = thread("parentPort.on('message', () => { for (;;); })");
  const waiting = asked.ask(1);
  const refused = expect(waiting).rejects.toThrow("was closed");
  await asked.close();
  await refused;
  await expect(asked.ask(2)).rejects.toThrow("was closed");
  await asked.close();
});

test("a question that can't be sent is refused alone", async () => {
  const asked = thread("parentPort.on('message', say)");
  await expect(asked.ask(() => {})).rejects.toThrow();
  expect(await asked.ask("next")).toBe("next");
  await asked.close();
});
