import fc from "fast-check";
import { expect, test } from "vitest";
import { UpdateOrder } from "../../src/index/update-order.ts";

test("the order is that of a plain sort, however many notes come, go and change between two looks", () => {
  const step = fc.array(fc.tuple(fc.nat({ max: 150 }), fc.integer({ min: 0, max: 6 }), fc.nat({ max: 99 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), (steps) => {
      const notes = new Map<number, { updatedMs: number; id: string }>();
      const of = (note: number) => notes.get(note) ?? { updatedMs: Number.NaN, id: "" };
      const order = new UpdateOrder({ updatedMs: (note) => of(note).updatedMs, id: (note) => of(note).id });
      for (const changes of steps) {
        for (const [note, updatedMs, name] of changes) {
          if (notes.has(note)) order.drop(note);
          notes.delete(note);
          if (updatedMs === 0) continue;
          notes.set(note, { updatedMs, id: `${name} ${note}` });
          order.add(note);
        }
        const wanted = [...notes].sort(([, a], [, b]) => a.updatedMs - b.updatedMs || (a.id < b.id ? 1 : -1));
        expect([...order.numbers()]).toEqual(wanted.map(([note]) => note));
      }
    }),
    { numRuns: 200 },
  );
});
