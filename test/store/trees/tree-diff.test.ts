/** Differences along a history of trees, read with one reader that carries over what it knows, against a plain look. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { diffTrees, treeReader } from "../../../src/store/trees/tree-diff.ts";

type Files = ReadonlyMap<string, string>;

const blob = (text: string) => hashObject("blob", Buffer.from(text));

/** A flat tree of these files, as Git writes it. */
function treeOf(files: Files): Buffer {
  const names = [...files.keys()].sort();
  return Buffer.concat(
    names.map((name) =>
      Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob(files.get(name) ?? ""), "hex")]),
    ),
  );
}

const plainly = (before: Files, after: Files) =>
  [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => [name, before.has(name), after.has(name)]);

/** What a reader tells along a history of states, and what there is to tell. */
function along(history: readonly Files[]) {
  const trees = new Map(history.map((files) => [hashObject("tree", treeOf(files)), treeOf(files)]));
  const read = treeReader((id) => trees.get(id) ?? Buffer.alloc(0), 1 << 20);
  return history.slice(1).map((after, i) => {
    const before = history[i] ?? new Map();
    const [from, to] = [hashObject("tree", treeOf(before)), hashObject("tree", treeOf(after))];
    const told = diffTrees(read, from, to).map(({ path, before: b, after: a }) => [
      path,
      b !== null,
      a !== null,
    ]);
    return { told, expected: plainly(before, after) };
  });
}

test("a name goes and another of its length comes, between which a longer one stays: what follows is told too", () => {
  const states: Files[] = [
    new Map([
      ["a-b.md", "1"],
      ["c-a-a.md", "2"],
    ]),
    new Map([
      ["c-a-a.md", "2"],
      ["c-c.md", "1"],
    ]),
    new Map([
      ["a-a-a.md", "2"],
      ["c-c.md", "1"],
    ]),
    new Map([
      ["a-a-a.md", "2"],
      ["a-c.md", "1"],
    ]),
  ];
  for (const { told, expected } of along(states)) expect(told).toEqual(expected);
});

test("along any history each difference is told, whatever the names' lengths", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
  const step = fc.array(fc.tuple(name, fc.constantFrom("1", "2", null)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
      const states: Files[] = [new Map()];
      for (const changes of steps) {
        const next = new Map(states.at(-1));
        for (const [file, text] of changes) {
          if (text === null) next.delete(file);
          else next.set(file, text);
        }
        states.push(next);
      }
      for (const { told, expected } of along(states)) expect(told).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});
