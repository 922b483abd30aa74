import { constants, deflateSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inflateSmall } from "../../../src/store/objects/small-inflate.ts";

const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.constantFrom("100644 note_", "20-byte", "a", "\0", "\xff"), { maxLength: 60 })
    .map((parts) => Uint8Array.from(Buffer.from(parts.join(""), "latin1"))),
);
const settings = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  memLevel: fc.integer({ min: 1, max: 9 }),
  windowBits: fc.integer({ min: 9, max: 15 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FIXED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
  ),
});

test("stored and fixed streams give what zlib gives, whatever comes behind them; others are left to zlib", () => {
  let own = 0;
  fc.assert(
    fc.property(content, settings, fc.uint8Array({ maxLength: 5 }), (bytes, how, behind) => {
      const stream = deflateSync(bytes, how);
      const made = inflateSmall(Buffer.concat([stream, behind]), bytes.length);
      if (made !== null) {
        own++;
        expect(made.equals(bytes)).toBe(true);
      } else expect(how.strategy === constants.Z_FIXED || how.level === 0).toBe(false);
    }),
    { numRuns: 2_000 },
  );
  expect(own).toBeGreaterThan(500);
});

test("of a damaged stream it makes nothing but what zlib makes too", () => {
  fc.assert(
    fc.property(
      content,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (bytes, where, flip, cut) => {
        const stream = deflateSync(bytes, { strategy: constants.Z_FIXED });
        const at = where % stream.length;
        const damaged = cut ? stream.subarray(0, at) : Buffer.from(stream);
        if (!cut) damaged[at] = (damaged[at] ?? 0) ^ flip;
        const made = inflateSmall(damaged, bytes.length);
        if (made === null) return;
        // Without its header and checksum, which are the caller's to do without; what damage ends early has a rest.
        expect(inflateRawSync(damaged.subarray(2)).equals(made)).toBe(true);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("a stream that gives more or less than was said is left to zlib", () => {
  const stream = deflateSync(Buffer.from("abcabcabc"), { strategy: constants.Z_FIXED });
  expect([inflateSmall(stream, 8), inflateSmall(stream, 10)]).toEqual([null, null]);
  expect(inflateSmall(stream, 9)?.toString()).toBe("abcabcabc");
});
