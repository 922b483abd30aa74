import { expect, test } from "vitest";
import { BatchCache } from "../../../src/notebook/feed/batch-cache.ts";
import type { Batch } from "../../../src/notebook/feed/log-reader.ts";

const item = { path: "notes/a.md", noteId: "a", describe: () => Promise.reject(new Error("not asked")) };
// Only the number of items counts here.
const batch = (items: number) => ({ items: Array(items).fill(item), end: { n: 1, commit: null } }) as Batch;

function counted(made: Batch | null) {
  const load = async () => {
    load.times++;
    return made;
  };
  load.times = 0;
  return load;
}

test("what is asked for twice at once is loaded once, and remembered", async () => {
  const cache = new BatchCache(100);
  const load = counted(batch(3));
  const [one, two] = await Promise.all([cache.get("a", load), cache.get("a", load)]);
  expect(one).toBe(two);
  expect(await cache.get("a", load)).toBe(one);
  expect(load.times).toBe(1);
});

test("the oldest goes when there are too many items", async () => {
  const cache = new BatchCache(10);
  cache.put("a", batch(4));
  cache.put("b", batch(4));
  cache.put("c", batch(4));
  const [a, c] = [counted(batch(1)), counted(batch(1))];
  await cache.get("c", c);
  await cache.get("a", a);
  expect([a.times, c.times]).toEqual([1, 0]);
});

test("one too large for the bound is kept beside while it is in use, and evicts nothing", async () => {
  const cache = new BatchCache(10);
  cache.put("a", batch(4));
  const load = counted(batch(50));
  const large = await cache.get("large", load);
  expect(await cache.get("large", load)).toBe(large);
  expect(load.times).toBe(1);
  const a = counted(batch(1));
  await cache.get("a", a);
  expect(a.times).toBe(0);
});

test("neither the head nor a failure is remembered", async () => {
  const cache = new BatchCache(10);
  const head = counted(null);
  expect(await cache.get("a", head)).toBeNull();
  await cache.get("a", head);
  expect(head.times).toBe(2);
  const failing = async () => {
    throw new Error("disk");
  };
  await expect(cache.get("b", failing)).rejects.toThrow("disk");
  const b = counted(batch(1));
  await cache.get("b", b);
  expect(b.times).toBe(1);
});
