import fc from "fast-check";
import { expect, test } from "vitest";
import { ewahBytes, readEwah } from "../../../src/store/git-index/ewah.ts";

test("any set of positions is read as it was written, and where it ends", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(5000), { maxLength: 200 }), (some) => {
      const positions = some.sort((a, b) => a - b);
      const bytes = Buffer.concat([Buffer.from("before"), ewahBytes(positions), Buffer.from("after")]);
      expect(readEwah(bytes, 6, 5001)).toEqual({ positions, end: bytes.length - 5 });
    }),
  );
});

/** A marker word: a run of equal words, then so many literal ones. */
const marker = (bit: bigint, run: bigint, literals: bigint) => bit | (run << 1n) | (literals << 33n);

function bitmap(bits: number, words: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 + words.length * 8 + 4);
  bytes.writeUInt32BE(bits, 0);
  bytes.writeUInt32BE(words.length, 4);
  words.forEach((word, n) => {
    bytes.writeBigUInt64BE(word, 8 + n * 8);
  });
  return bytes;
}

test("a run of ones, as Git writes it for a folder that is gone, ends where the set ends", () => {
  const bytes = bitmap(130, [marker(1n, 2n, 1n), 0b11n]);
  expect(readEwah(bytes, 0, 1000)?.positions).toEqual(Array.from({ length: 130 }, (_, n) => n));
  expect(readEwah(bytes, 0, 3)?.positions).toEqual([0, 1, 2]);
  expect(readEwah(bitmap(0, [0n]), 0, 10)?.positions).toEqual([]);
});

test("one that is cut short is none", () => {
  const bytes = ewahBytes([1, 100, 1000]);
  for (const length of [0, 4, 8, 20, bytes.length - 1])
    expect(readEwah(bytes.subarray(0, length), 0, 2000)).toBeNull();
  expect(readEwah(bitmap(64, [marker(0n, 0n, 9n)]), 0, 64)).toBeNull();
});
