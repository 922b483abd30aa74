import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryTextIndex } from "../../../src/index/search/text-index.ts";
import { finish } from "../../../src/index/slices.ts";

const WORDS = ["alpha", "alphabet", "beta", "betas", "gamma", "数据", "数据库", "é", "x", "w".repeat(70)];
const QUERIES = ["alpha", "alph", "beta", "gamma beta", "数", "数据", "e", "x", "w".repeat(66), "none"];
const docOf = (words: readonly string[]) => ({ title: words[0] ?? "", tags: [], body: words.join(" ") });

function ranked(index: MemoryTextIndex, query: string) {
  return finish(index.rank(query)).sort((a, b) => a.key - b.key);
}

/** Until nothing is left to do. */
function tidied(index: MemoryTextIndex): void {
  while (!index.tidy());
}

function fresh(docs: ReadonlyMap<number, readonly string[]>): MemoryTextIndex {
  const index = new MemoryTextIndex();
  for (const [key, words] of docs) index.put(key, 0, docOf(words));
  return index;
}

const change = fc.record({
  key: fc.nat({ max: 400 }),
  words: fc.option(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }), { freq: 5 }),
  /** Steps of tidying afterwards. */
  tidy: fc.constantFrom(0, 0, 0, 1, 2),
});

test("whatever is put, replaced and removed while words are merged, search answers as a new index does", () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1_300, maxLength: 2_000 }), (changes) => {
      const index = new MemoryTextIndex();
      const docs = new Map<number, readonly string[]>();
      for (const { key, words, tidy } of changes) {
        docs.delete(key);
        if (words === null) index.remove(key);
        else {
          docs.set(key, words);
          index.put(key, 0, docOf(words));
        }
        for (let n = 0; n < tidy; n++) index.tidy();
      }
      const wanted = fresh(docs);
      for (const query of QUERIES) {
        expect(ranked(index, query)).toEqual(ranked(wanted, query));
        const holding = [...docs]
          .filter(([, words]) => docOf(words).body.includes(query))
          .map(([key]) => key);
        const may = index.mayContain(query);
        if (may !== null) expect(new Set(may)).toEqual(new Set([...may, ...holding]));
      }
    }),
    { numRuns: 6 },
  );
});

test("words that were kept come back, but for documents that are others by now", () => {
  const index = new MemoryTextIndex();
  for (let key = 0; key < 1_200; key++) index.put(key, key * 2, docOf([`only${key}`, "common"]));
  tidied(index);
  const { kept } = index;
  if (kept === null) throw new Error("nothing was merged");
  const again = new MemoryTextIndex();
  again.restore(kept, (key, version) => version === key * 2 && key % 3 !== 0);
  for (let key = 0; key < 1_200; key++) {
    const found = finish(again.rank(`only${key}`)).some((hit) => hit.key === key);
    expect(found).toBe(again.has(key));
    expect(again.has(key)).toBe(key % 3 !== 0 && kept.keys.includes(key));
  }
});

test("twenty thousand rewrites of a few documents leave a few documents' worth of words", () => {
  const index = new MemoryTextIndex();
  for (let n = 0; n < 20_000; n++) {
    index.put(n % 10, n, docOf([`only${n}`, "common"]));
    index.tidy();
  }
  tidied(index);
  expect(index.kept?.termEnds.length).toBeLessThan(2_000);
  expect(ranked(index, "common").map(({ key }) => key)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
