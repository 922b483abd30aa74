import { expect, test } from "vitest";
import { Postings } from "../../../src/index/search/postings.ts";

const docsOf = (postings: Postings, term: string) => {
  const found: [number, number][] = [];
  postings.of(term, (doc, weight) => found.push([doc, weight]));
  return found;
};

test("a term tells its live documents with their weights, kept up to 255", () => {
  const postings = new Postings();
  const a = postings.put(new Map([["x", 3]]));
  const b = postings.put(new Map([["x", 900]]));
  expect(docsOf(postings, "x")).toEqual([
    [a, 3],
    [b, 255],
  ]);
  postings.remove(a);
  postings.remove(a);
  expect(docsOf(postings, "x")).toEqual([[b, 255]]);
  expect(docsOf(postings, "never")).toEqual([]);
  expect(postings.size).toBe(1);
});

test("terms that start alike are found sorted, new and old, however many there are", () => {
  const postings = new Postings();
  for (let i = 0; i < 5_000; i++) postings.put(new Map([[`k${i}`, 1]]));
  expect(postings.startingWith("k499")).toEqual([
    "k499",
    ...Array.from({ length: 10 }, (_, i) => `k499${i}`),
  ]);
  postings.put(new Map([["k499a", 1]]));
  expect(postings.startingWith("k499").at(-1)).toBe("k499a");
});

test("a hundred thousand rewrites of a few documents leave a few documents' worth of terms", () => {
  const postings = new Postings();
  const held: number[] = [];
  for (let i = 0; i < 100_000; i++) {
    const oldest = held.length === 10 ? held.shift() : undefined;
    if (oldest !== undefined) postings.remove(oldest);
    held.push(
      postings.put(
        new Map([
          ["common", 1],
          [`only${i}`, 1],
        ]),
      ),
    );
  }
  expect([...postings.terms()].length).toBeLessThan(2_000);
  expect(postings.atMost("common")).toBeLessThan(2_000);
  expect(docsOf(postings, "common").map(([doc]) => doc)).toEqual(held);
});
