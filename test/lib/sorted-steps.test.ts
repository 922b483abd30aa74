import fc from "fast-check";
import { expect, test } from "vitest";
import { sortedSteps } from "../../src/lib/sorted-steps.ts";

function sorted(items: readonly { key: number; place: number }[]) {
  const steps = sortedSteps(items, (a, b) => a.key - b.key);
  let yields = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return { sorted: step.value, yields };
    yields++;
  }
}

test("the order is that of a sort, equal ones as they came", () => {
  const keys = fc.array(fc.nat({ max: 50 }), { maxLength: 5_000, size: "max" });
  fc.assert(
    fc.property(keys, (given) => {
      const items = given.map((key, place) => ({ key, place }));
      expect(sorted(items).sorted).toEqual([...items].sort((a, b) => a.key - b.key));
    }),
    { numRuns: 50 },
  );
});

test("many items are sorted in many steps", () => {
  const items = Array.from({ length: 20_000 }, (_, place) => ({ key: (place * 7_919) % 20_000, place }));
  const { sorted: found, yields } = sorted(items);
  expect(found.map(({ key }) => key)).toEqual(items.map((_, i) => i));
  expect(yields).toBeGreaterThan(80);
});
