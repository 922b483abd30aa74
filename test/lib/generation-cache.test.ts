import { expect, test } from "vitest";
import { generationCache } from "../../src/lib/generation-cache.ts";

const cacheOf = (maxBytes: number) => generationCache<string, string>(maxBytes, (value) => value.length);

test("what is used stays, what is not goes, and the bound holds", () => {
  const cache = generationCache<string, { readonly bytes: number }>(20, ({ bytes }) => bytes);
  cache.set("used", { bytes: 4 });
  const keys = Array.from({ length: 50 }, (_, n) => `other ${n}`);
  for (const key of keys) {
    cache.set(key, { bytes: 4 });
    expect(cache.get("used")).toEqual({ bytes: 4 });
  }
  // Newest first, so that looking moves nothing out before it was counted.
  const held = [...keys].reverse().filter((key) => cache.get(key) !== undefined);
  expect(held.length).toBeLessThanOrEqual(4);
  expect(held).toContain("other 49");
});

test("a new value stands in the place of an old one, and one too large for the bound is not kept", () => {
  const cache = cacheOf(20);
  cache.set("a", "12");
  cache.set("a", "123");
  expect(cache.get("a")).toBe("123");
  cache.set("a", "x".repeat(11));
  expect(cache.get("a")).toBeUndefined();
});

test("a cleared cache holds nothing", () => {
  const cache = cacheOf(20);
  cache.set("a", "12");
  cache.clear();
  expect(cache.get("a")).toBeUndefined();
});
