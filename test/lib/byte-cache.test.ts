import { expect, test } from "vitest";
import { byteCache } from "../../src/lib/byte-cache.ts";

test("the least recently used go first, and the bound holds at every step", () => {
  const cache = byteCache<string, number>(10);
  cache.set("a", 1, 4);
  cache.set("b", 2, 4);
  expect(cache.get("a")).toBe(1);
  cache.set("c", 3, 4);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
  expect(cache.bytes).toBe(8);
});

test("a value over the bound is not kept, and replaces what stood under its key", () => {
  const cache = byteCache<string, number>(10);
  cache.set("a", 1, 4);
  cache.set("a", 2, 11);
  expect(cache.get("a")).toBeUndefined();
  expect(cache.bytes).toBe(0);
});

test("replacing, deleting and clearing give the bytes back", () => {
  const cache = byteCache<string, number>(10);
  cache.set("a", 1, 4);
  cache.set("a", 2, 3);
  cache.set("b", 2, 3);
  cache.delete("b");
  cache.delete("b");
  expect(cache.bytes).toBe(3);
  cache.clear();
  expect([cache.bytes, cache.get("a")]).toEqual([0, undefined]);
});
