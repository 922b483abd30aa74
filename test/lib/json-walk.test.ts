import { expect, test } from "vitest";
import { findUnkeepable, isDeeperThan } from "../../src/lib/json-walk.ts";

test("depth counts objects and arrays, not scalars", () => {
  expect(isDeeperThan(1, 0)).toBe(false);
  expect(isDeeperThan({ a: 1 }, 1)).toBe(false);
  expect(isDeeperThan({ a: [1] }, 1)).toBe(true);
});

test("what can't be kept exactly is found with its place", () => {
  expect(findUnkeepable({ a: ["ok", "\ud83d\ude00", "\ud800"] })).toMatchObject({ path: "a.2" });
  expect(findUnkeepable({ a: { "\udc00": 1 } })).toMatchObject({ path: "a" });
  expect(findUnkeepable(JSON.parse('{"extra":{"__proto__":1}}'))).toMatchObject({ path: "extra.__proto__" });
  expect(findUnkeepable(JSON.parse('{"n":1e400}'))).toMatchObject({ path: "n" });
  expect(findUnkeepable({ a: "日本", b: [1, null, true] })).toBeNull();
});
