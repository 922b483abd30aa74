import { expect, test } from "vitest";
import { createWriteQueue } from "../../../src/notebook/writing/queue.ts";

test("a job that comes while writes only gather goes before them, and they are taken together later", async () => {
  const done: string[] = [];
  const gathering: (() => void)[] = [];
  const queue = createWriteQueue<string>({
    maxGroup: 8,
    maxWaiting: 8,
    runGroup: async (writes) => void done.push(writes.join("+")),
    gather: () => new Promise((resolve) => void gathering.push(resolve)),
  });
  queue.push("a");
  // A push asks for the writer while the group waits for a person's Git.
  await queue.alone(async () => void done.push("push"));
  expect(done).toEqual(["push"]);
  queue.push("b");
  await new Promise(setImmediate);
  gathering.at(-1)?.();
  const later = queue.alone(async () => void done.push("later"));
  await Promise.all([later, queue.drain()]);
  expect(done.toSorted()).toEqual(["a+b", "later", "push"]);
});
