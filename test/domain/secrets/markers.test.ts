import fc from "fast-check";
import { expect, test } from "vitest";
import { markerLook } from "../../../src/domain/secrets/markers.ts";

test("the lists of which a text has a literal are told, whatever overlaps whatever", () => {
  const literal = fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 5 });
  const lists = fc.array(fc.array(literal, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom("a", "b", "_", "é", "x"), maxLength: 30 });
  fc.assert(
    fc.property(lists, text, (wanted, given) => {
      const there = wanted.flatMap((literals, i) => (literals.some((one) => given.includes(one)) ? [i] : []));
      expect([...markerLook(wanted)(Buffer.from(given))].toSorted((a, b) => a - b)).toEqual(there);
    }),
    { seed: 7, numRuns: 1_000 },
  );
});

test("more characters or states than fit are refused where the lists are made", () => {
  const all = Array.from({ length: 90 }, (_, i) => String.fromCharCode(33 + i));
  expect(() => markerLook([all])).toThrow(/too many characters/);
  expect(() => markerLook([Array.from({ length: 1_100 }, (_, i) => i.toString(2))])).toThrow(
    /too many states/,
  );
});
