import fc from "fast-check";
import { expect, test } from "vitest";
import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import { plainValue, type Value, YAML_OPTIONS } from "../../src/domain/front-matter.ts";
import { readSimple, spliceSimple } from "../../src/domain/simple-block.ts";

/** What the YAML library alone says; undefined where it sees an error or something that isn't simple. */
function byLibrary(block: string): Record<string, Value> | undefined {
  const document = parseDocument(block, YAML_OPTIONS);
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  const scalar = (node: unknown): Value => {
    if (!isScalar(node)) throw new Error("no scalar");
    return node.type === "PLAIN" ? plainValue(String(node.value)) : String(node.value);
  };
  return Object.fromEntries(
    document.contents.items.map(({ key, value }) => [
      String(scalar(key)),
      isSeq(value) ? value.items.map(scalar) : scalar(value),
    ]),
  );
}

test("what is simple is what YAML reads", () => {
  const piece = fc.constantFrom(
    "a",
    "B",
    "0",
    "1.0",
    "_",
    "-",
    ".",
    "/",
    "+",
    "@",
    " ",
    ", ",
    ":",
    ": ",
    "#",
    '"',
    "[",
    "]",
    "é",
    "null",
    "true",
    "2026-11-30T10:15:00.000Z",
    "~",
    "'",
    "\\",
    "---",
    "e3",
  );
  const value = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  const wrap = fc.constantFrom(
    (text: string) => text,
    (text: string) => `[${text}]`,
    (text: string) => `"${text}"`,
  );
  let simple = 0;
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b-c", "d_1", "id"), value, wrap), {
        maxLength: 3,
        minLength: 1,
        selector: ([key]) => key,
      }),
      (pairs) => {
        const block = pairs.map(([key, text, around]) => `${key}: ${around(text)}\n`).join("");
        const read = readSimple(block, plainValue);
        if (read === null) return;
        simple++;
        expect(Object.fromEntries(read), block).toEqual(byLibrary(block));
      },
    ),
    { numRuns: 5000 },
  );
  expect(simple).toBeGreaterThan(300);
});

test("comments, nesting, doubles and __proto__ are not simple", () => {
  for (const block of [
    "# c\n",
    "a: b # c\n",
    "a:\n",
    "a:\n  b: c\n",
    "a: b\na: c\n",
    "a: b\n  more\n",
    "__proto__: x\n",
    "a: 'b'\n",
    "\n",
    "a: b\n\n",
    "a: - b\n",
  ]) {
    expect(readSimple(block, plainValue)).toBeNull();
  }
});

test("a line is changed, added or taken away, in its quotes", () => {
  const block = 'title: "a"\ntags: [x, y]\ntype: general\n';
  expect(spliceSimple(block, "title", "b")).toBe(block.replace('"a"', '"b"'));
  expect(spliceSimple(block, "tags", ["z"])).toBe(block.replace("x, y", "z"));
  expect(spliceSimple(block, "type", undefined)).toBe(block.replace("type: general\n", ""));
  expect(spliceSimple(block, "new", 1)).toBe(`${block}new: 1\n`);
  expect(spliceSimple(block, "tags", "x")).toBeNull();
  expect(spliceSimple(`# c\n${block}`, "type", "x")).toBeNull();
});
