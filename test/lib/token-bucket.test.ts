import { expect, test } from "vitest";
import { tokenBucket } from "../../src/lib/token-bucket.ts";
import { fakeClock } from "../support/fake-clock.ts";

test("a burst is taken at once, and what comes then waits for its turn", () => {
  const clock = fakeClock();
  const bucket = tokenBucket(clock, 10, 3);
  expect([1, 2, 3].map(() => bucket.take())).toEqual([0, 0, 0]);
  expect(bucket.take()).toBe(100);
  clock.advance(99);
  expect(bucket.take()).toBe(1);
  clock.advance(1);
  expect(bucket.take()).toBe(0);
  expect(bucket.isFull).toBe(false);
  clock.advance(60_000);
  expect(bucket.isFull).toBe(true);
  expect([1, 2, 3, 4].map(() => bucket.take() === 0)).toEqual([true, true, true, false]);
});

test("a rate below one a second lets one through at once and tells the true wait", () => {
  const clock = fakeClock();
  const bucket = tokenBucket(clock, 0.1, 0.2);
  expect(bucket.take()).toBe(0);
  expect(bucket.take()).toBe(10_000);
});

test("a clock that is set back neither gives nor takes", () => {
  let nowMs = 1_000_000;
  const bucket = tokenBucket({ now: () => nowMs }, 1, 2);
  bucket.take();
  nowMs -= 500_000;
  expect(bucket.take()).toBe(0);
  expect(bucket.take()).toBe(1_000);
  nowMs += 1_000;
  expect(bucket.take()).toBe(0);
});
