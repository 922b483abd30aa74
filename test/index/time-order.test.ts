import fc from "fast-check";
import { expect, test } from "vitest";
import { TimeOrder } from "../../src/index/time-order.ts";

test("the order is that of a plain sort, however many notes come, go and change between two looks", () => {
  const step = fc.array(fc.tuple(fc.nat({ max: 150 }), fc.integer({ min: 0, max: 6 }), fc.nat({ max: 99 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), (steps) => {
      const notes = new Map<number, { updatedMs: number; id: string }>();
      const of = (note: number) => notes.get(note) ?? { updatedMs: Number.NaN, id: "" };
      const order = new TimeOrder({ timeMs: (note) => of(note).updatedMs, id: (note) => of(note).id });
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
        const by3 = wanted.filter(([, { updatedMs }]) => updatedMs <= 3);
        expect([...order.upTo(3)]).toEqual(by3.map(([note]) => note));
        expect(order.nextMs(3)).toBe(wanted[by3.length]?.[1].updatedMs ?? Number.POSITIVE_INFINITY);
      }
    }),
    { numRuns: 200 },
  );
});
