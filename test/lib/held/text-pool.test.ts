import fc from "fast-check";
import { expect, test } from "vitest";
import { TextPool } from "../../../src/lib/held/text-pool.ts";

const any = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom(
    "",
    "é",
    "ÿ",
    "Ā",
    "数据",
    "\ud800",
    "\udc00x",
    "a".repeat(40),
    "0f".repeat(20),
    "0F".repeat(20),
  ),
  fc.stringMatching(/^[0-9a-f]{32,64}$/),
);

test("every text has one number and comes back as it was, also after the pool was kept in a file", () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 200 }), (texts) => {
      const pool = new TextPool();
      const numbers = texts.map((text) => pool.of(text));
      expect(new Set(numbers).size).toBe(new Set(texts).size);
      const again = new TextPool();
      for (const [i, rows] of pool.rows.entries()) again.rows[i]?.append(rows.bytes(0, rows.length));
      again.restored();
      for (const [i, text] of texts.entries()) {
        for (const held of [pool, again]) {
          expect(held.at(numbers[i] ?? 0)).toBe(text);
          expect(held.find(text)).toBe(numbers[i]);
          expect(held.of(text)).toBe(numbers[i]);
        }
      }
    }),
  );
});

test("what is not held has the number 0, which is no text", () => {
  const pool = new TextPool();
  expect([pool.find("x"), pool.ofOrNull(null), pool.atOrNull(0)]).toEqual([0, 0, null]);
  expect(() => pool.at(0)).toThrow(RangeError);
  expect(() => pool.at(1)).toThrow(RangeError);
});

test("texts of any length are held", () => {
  const pool = new TextPool();
  const long = ["x".repeat(100_000), "数".repeat(50_000), "ab".repeat(9_000)];
  const numbers = long.map((text) => pool.of(text));
  expect(numbers.map((number) => pool.at(number))).toEqual(long);
});

test("a pool finds the texts of its file by slots that were kept, and those that came after them", () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 99 }), fc.array(any, { maxLength: 99 }), (first, later) => {
      const pool = new TextPool();
      for (const text of first) pool.of(text);
      const kept = pool.slots;
      for (const text of later) pool.of(text);
      const again = new TextPool();
      for (const [i, rows] of pool.rows.entries()) again.rows[i]?.append(rows.bytes(0, rows.length));
      again.restored(kept);
      for (const text of [...first, ...later]) expect(again.find(text)).toBe(pool.find(text));
      expect(again.of("neither of them")).toBe(again.size - 1);
    }),
  );
});

test("slots of other texts than a pool holds are refused", () => {
  const pool = new TextPool();
  for (const text of ["a", "b", "c"]) pool.of(text);
  const { seed, slots, size } = pool.slots;
  const odd = [
    { seed, slots, size: size - 1 },
    { seed, slots, size: size + 1 },
    { seed, slots: slots.subarray(4), size },
    { seed, slots: new Uint8Array(slots.length), size },
  ];
  for (const known of odd) {
    const again = new TextPool();
    for (const [i, rows] of pool.rows.entries()) again.rows[i]?.append(rows.bytes(0, rows.length));
    expect(() => again.restored(known)).toThrow(RangeError);
  }
});
