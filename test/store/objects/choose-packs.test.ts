import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseToMerge, chooseToRepack } from "../../../src/store/objects/choose-packs.ts";
import type { PackOnDisk } from "../../../src/store/objects/pack-list.ts";

const KIB = 1 << 10;
const MIB = 1 << 20;
let made = 0;
const pack = (bytes: number, fresh = true): PackOnDisk => ({
  name: `${made++}`.padStart(40, "0"),
  bytes,
  fresh,
});
const bySize = (packs: readonly PackOnDisk[]) => [...packs].sort((a, b) => a.bytes - b.bytes);
const bytesOf = (packs: readonly PackOnDisk[]) => packs.reduce((sum, { bytes }) => sum + bytes, 0);

/** Merge as upkeep does, and count what is copied. */
function mergeUntilDone(packs: readonly PackOnDisk[], effort: "busy" | "quiet") {
  let left = bySize(packs);
  let copied = 0;
  for (;;) {
    const chosen = new Set(chooseToMerge(left, effort));
    if (chosen.size === 0) return { left, copied };
    const bytes = bytesOf([...chosen]);
    copied += bytes;
    left = bySize([...left.filter((one) => !chosen.has(one)), pack(bytes)]);
  }
}

test("whatever there was, quiet leaves few packs, and those that are left are large or of different sizes", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 100, max: 40 * MIB }), { maxLength: 600 }), (sizes) => {
      const { left } = mergeUntilDone(
        sizes.map((bytes) => pack(bytes)),
        "quiet",
      );
      expect(left.filter(({ bytes }) => bytes < 256 * MIB).length).toBeLessThanOrEqual(13);
    }),
  );
});

test("300,000 packs of 5 kB, merged at each 200, are each byte copied less than five times and never over 250", () => {
  let packs: PackOnDisk[] = [];
  let copied = 0;
  for (let n = 0; n < 300_000 / 200; n++) {
    const after = mergeUntilDone([...packs, ...Array.from({ length: 200 }, () => pack(5 * KIB))], "busy");
    packs = after.left;
    copied += after.copied;
    expect(packs.length).toBeLessThanOrEqual(50);
  }
  expect(copied / (300_000 * 5 * KIB)).toBeLessThan(5);
});

test("no merge makes a pack over 256 MiB", () => {
  const packs = Array.from({ length: 40 }, () => pack(30 * MIB));
  expect(bytesOf(chooseToMerge(packs, "quiet"))).toBeLessThanOrEqual(256 * MIB);
  expect(chooseToMerge([pack(256 * MIB), pack(300 * MIB)], "quiet")).toEqual([]);
});

test("Git gets every fresh pack, with those that are not much larger, and leaves the large one alone", () => {
  const [small, middle, large] = [pack(3 * MIB, false), pack(9 * MIB, false), pack(90 * MIB, false)];
  const fresh = pack(2 * MIB);
  expect(chooseToRepack([fresh, small, middle, large])).toEqual([fresh, small, middle]);
  expect(chooseToRepack([pack(100 * KIB), small, large])).toEqual([]);
  expect(chooseToRepack([small, middle, large])).toEqual([]);
});

test("what Git reads for minutes holds no small pack back from being put together with others", () => {
  const small = Array.from({ length: 200 }, () => pack(300 * KIB));
  const large = pack(600 * MIB);
  expect(chooseToRepack([...small, large])).toEqual([large]);
  expect(chooseToRepack(small)).toEqual([]);
});

test("a pause in writing copies nothing while there are only a few small packs", () => {
  expect(chooseToMerge([pack(10 * KIB), pack(20 * KIB), pack(400 * KIB)], "quiet")).toEqual([]);
});
