import fc from "fast-check";
import { expect, test } from "vitest";
import { Slab } from "../../../src/index/search/slab.ts";

const step = fc.record({
  list: fc.nat(5),
  word: fc.nat(0xffffffff),
  keep: fc.option(fc.nat(3), { freq: 4 }),
});

test("lists hold what arrays would, through pushes, sweeps and places used again", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const slab = new Slab();
      const held = new Map<number, { handle: number; words: number[] }>();
      for (const { list, word, keep } of steps) {
        const known = held.get(list);
        if (known === undefined) held.set(list, { handle: slab.start(word), words: [word] });
        else if (keep === null) {
          slab.push(known.handle, word);
          known.words.push(word);
        } else {
          const stays = (w: number) => w % 4 < keep;
          known.words = known.words.filter(stays);
          expect(slab.keep(known.handle, stays)).toBe(known.words.length);
          if (known.words.length === 0) held.delete(list);
        }
        for (const { handle, words } of held.values()) {
          const found: number[] = [];
          slab.each(handle, (w) => found.push(w));
          expect(found).toEqual(words);
          expect(slab.length(handle)).toBe(words.length);
        }
      }
    }),
    { numRuns: 200 },
  );
});
