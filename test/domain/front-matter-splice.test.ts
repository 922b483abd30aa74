import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readFrontMatter, Unreadable, type Value } from "../../src/domain/front-matter.ts";
import { same, splice } from "../../src/domain/front-matter-splice.ts";
import { valueText } from "../../src/domain/yaml-text.ts";

const change = (text: string, patch: Record<string, Value | undefined>) =>
  splice(text, new Map(Object.entries(patch)));
/** Lines of `after` that are not in `before`, and the other way round. */
function changed(before: string, after: string): string[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  return [
    ...a.filter((line) => !b.includes(line)).map((line) => `-${line}`),
    ...b.filter((line) => !a.includes(line)).map((line) => `+${line}`),
  ];
}

const AUTHORED = `---
# mine
title:   "Plan"   # keep
date: 2024-01-01
type: 'note'
tags:
  - a   # first
  # about b
  - 'b'
  - c
nested: {x: 1, y: [2, 3]}
empty:   # later
status: open
text: |
  one

  two
list: [ q, "r", s ]
last: x
---
body
---
more
`;

test("a change of one key is a change of its lines alone, in the author's style", () => {
  const one = (patch: Record<string, Value | undefined>) => changed(AUTHORED, change(AUTHORED, patch));
  expect(one({ title: "New: plan" })).toEqual([
    '-title:   "Plan"   # keep',
    '+title:   "New: plan"   # keep',
  ]);
  expect(one({ type: "it's" })).toEqual(["-type: 'note'", "+type: 'it''s'"]);
  expect(one({ status: "resolved" })).toEqual(["-status: open", "+status: resolved"]);
  expect(one({ tags: ["a", "b", "c", "d"] })).toEqual(["+  - d"]);
  expect(one({ tags: ["a", "c"] })).toEqual(["-  # about b", "-  - 'b'"]);
  expect(one({ tags: ["b"] })).toEqual(["-  - a   # first", "-  - c"]);
  expect(one({ list: ["q", "r", "t"] })).toEqual(['-list: [ q, "r", s ]', '+list: [ q, "r", t ]']);
  expect(one({ empty: "x" })).toEqual(["-empty:   # later", "+empty: x   # later"]);
  expect(one({ text: "short" })).toEqual(["-text: |", "-  one", "-  two", "+text: short"]);
  expect(one({ date: undefined })).toEqual(["-date: 2024-01-01"]);
  expect(one({ nested: undefined })).toEqual(["-nested: {x: 1, y: [2, 3]}"]);
  expect(one({ tags: undefined })).toEqual([
    "-tags:",
    "-  - a   # first",
    "-  # about b",
    "-  - 'b'",
    "-  - c",
  ]);
  expect(one({ fresh: "1" })).toEqual(['+fresh: "1"']);
  expect(one({ tags: [] })).toContain("+tags: []");
});

test("the same values are the same text, whatever their style", () => {
  const same = {
    title: "Plan",
    type: "note",
    tags: ["a", "b", "c"],
    nested: { y: [2, 3], x: 1 },
    gone: undefined,
  };
  expect(change(AUTHORED, same)).toBe(AUTHORED);
});

test("CRLF, BOM and a missing newline at the end are kept", () => {
  expect(change("\ufeff---\r\na: 1\r\nb: x\r\n---", { b: "new", c: ["z"] })).toBe(
    "\ufeff---\r\na: 1\r\nb: new\r\nc: [z]\r\n---",
  );
});

test("mixed line ends stay as they are, line by line; a new line gets the file's", () => {
  const text = "---\r\na: 1\nb: x\r\nlist:\n  - q\r\n---\r\nbody\n";
  expect(change(text, { b: "y z", list: ["q", "r"], c: true })).toBe(
    "---\r\na: 1\nb: y z\r\nlist:\n  - q\r\n  - r\r\nc: true\r\n---\r\nbody\n",
  );
});

test("a text without front matter gets a block, and its body stays", () => {
  expect(change("# T\n", { type: "action" })).toBe("---\ntype: action\n---\n\n# T\n");
  expect(change("# T\r\n", { type: "action" })).toBe("---\r\ntype: action\r\n---\r\n\r\n# T\r\n");
  expect(change("", { type: "action" })).toBe("---\ntype: action\n---\n");
  expect(change("---\nrule, no end", { type: "action" })).toBe("---\ntype: action\n---\n\n---\nrule, no end");
  expect(change("---\nprose\n---\n", { type: "action" })).toBe("---\ntype: action\n---\n\n---\nprose\n---\n");
  expect(change("---\n---\nb", { type: "action" })).toBe("---\ntype: action\n---\nb");
});

test("a block in flow style is changed inside", () => {
  expect(change("---\n{title: a, b: 1}\n---\n", { title: "x, y", c: true })).toBe(
    '---\n{title: "x, y", b: 1, c: true}\n---\n',
  );
});

test("what can't be done in place is refused, and nothing is changed", () => {
  const refused = [
    ["---\na: &x 1\nb: *x\n---\n", { a: 2 }],
    ["---\n{a: 1, b: 2}\n---\n", { a: undefined }],
    ["---\ntitle: [broken\n---\n", { title: "x" }],
    ["---\nt: [a, # one\n  b]\n---\n", { t: ["a"] }],
  ] as const;
  for (const [text, patch] of refused) expect(() => change(text, patch)).toThrow(Unreadable);
});

const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "---",
    "a: b",
    "- x",
    "# h",
    "[x] todo",
    '"q"',
    "it's",
    " lead",
    "trail ",
    "yes",
    "null",
    "~",
    "1.0",
    "0x1F",
    "2024-01-01",
    "12:30",
    "标题: 值 #1",
    "a\nb",
    "\ttab",
    "*x",
    "&x",
    "!x",
    "@x",
    "`x`",
    "%x",
    "{a}",
    "a,b",
    "x:",
    ": ",
    "<<",
    "\u0085",
    "\u2028",
    "\ufeff",
    "no",
    "…",
    "---js",
  ),
);
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    fc.integer(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      word.filter((key) => key !== "__proto__"),
      tie("value"),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value;

test("any value is read back as it was written, by us and by the library alone", () => {
  fc.assert(
    fc.property(value, (given) => {
      const text = change("---\na: 1\n---\nbody", { given });
      expect(same(readFrontMatter(text).data.get("given"), given), text).toBe(true);
      if (typeof given === "string") expect(parse(`k: ${valueText(given)}`)).toEqual({ k: given });
    }),
    { numRuns: 500 },
  );
});

test("any change of any key leaves every other line as it is", () => {
  const key = fc.constantFrom(
    "title",
    "date",
    "type",
    "tags",
    "nested",
    "empty",
    "status",
    "text",
    "list",
    "last",
    "fresh",
  );
  fc.assert(
    fc.property(
      key,
      fc.option(value, { nil: undefined }),
      fc.constantFrom("\n", "\r\n"),
      (name, given, eol) => {
        const before = AUTHORED.replaceAll("\n", eol);
        const after = change(before, { [name]: given });
        const read = readFrontMatter(after);
        expect(same(read.data.get(name), given)).toBe(true);
        for (const [other, kept] of readFrontMatter(before).data)
          if (other !== name) expect(read.data.get(other)).toEqual(kept);
        expect(after.endsWith(`---${eol}body${eol}---${eol}more${eol}`)).toBe(true);
        expect(after.includes(`# mine${eol}`)).toBe(true);
        if (eol === "\r\n") expect(after).not.toMatch(/[^\r]\n/);
        const back = change(after, { [name]: readFrontMatter(before).data.get(name) });
        expect(readFrontMatter(back).data).toEqual(readFrontMatter(before).data);
      },
    ),
    { numRuns: 150 },
  );
});

test("front matter in anybody's style: the other keys keep their lines, comments included", () => {
  const keys = fc.constantFrom("title", "tags", "a", "c d");
  const style = fc.record({
    indent: fc.constantFrom(2, 4),
    indentSeq: fc.boolean(),
    singleQuote: fc.constantFrom(true, false),
    defaultStringType: fc.constantFrom(
      "PLAIN",
      "QUOTE_DOUBLE",
      "QUOTE_SINGLE",
      "BLOCK_LITERAL",
      "BLOCK_FOLDED",
    ),
    lineWidth: fc.constantFrom(0, 40, 80),
    collectionStyle: fc.constantFrom("any", "block"),
  } as const);
  const data = fc.dictionary(keys, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
  fc.assert(
    fc.property(data, keys, fc.option(value, { nil: undefined }), style, (given, key, wanted, options) => {
      const blocks = Object.entries(given).map(
        ([name, held]) => [name, `# about ${name}\n${stringify({ [name]: held }, options)}`] as const,
      );
      const text = `---\n${blocks.map(([, block]) => block).join("")}---\nbody\n`;
      // What the library writes and does not read back is not our matter here.
      fc.pre(isReadable(text));
      const after = change(text, { [key]: wanted });
      expect(same(readFrontMatter(after).data.get(key), wanted)).toBe(true);
      for (const [name, block] of blocks) if (name !== key) expect(after).toContain(block);
    }),
    { numRuns: 150 },
  );
});

function isReadable(text: string): boolean {
  try {
    return readFrontMatter(text).block !== null;
  } catch {
    return false;
  }
}
