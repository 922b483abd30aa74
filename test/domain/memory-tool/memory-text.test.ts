import fc from "fast-check";
import { expect, test } from "vitest";
import {
  inserted,
  linesOf,
  numbered,
  rangeOf,
  replaced,
} from "../../../src/domain/memory-tool/memory-text.ts";
import { MemoryRefusal } from "../../../src/domain/memory-tool/refusal.ts";

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof MemoryRefusal) return error.message;
    throw error;
  }
  throw new Error("it was not refused");
};

test("a line end at the end begins no line", () => {
  expect(linesOf("")).toEqual([]);
  expect(linesOf("a")).toEqual(["a"]);
  expect(linesOf("a\n")).toEqual(["a"]);
  expect(linesOf("a\n\n")).toEqual(["a", ""]);
  expect(linesOf("\n")).toEqual([""]);
  expect(linesOf("a\r\nb\r\n")).toEqual(["a", "b"]);
});

test("numbers stand in six columns before a tab, as the documentation shows", () => {
  expect(numbered("Hello World", 1)).toBe("     1\tHello World");
  expect(numbered("Line ten", 10)).toBe("    10\tLine ten");
  expect(numbered("Line one hundred", 100)).toBe("   100\tLine one hundred");
  expect(numbered("last", 999_999)).toBe("999999\tlast");
});

test.each([
  [null, 5, { from: 1, to: 5 }],
  [[2, 4], 5, { from: 2, to: 4 }],
  [[2, -1], 5, { from: 2, to: 5 }],
  [[1, 10], 3, { from: 1, to: 3 }],
  [[0, 2], 3, { from: 1, to: 2 }],
  [[-4, 2], 3, { from: 1, to: 2 }],
  [[3, 3], 3, { from: 3, to: 3 }],
  [[1, 10], 0, { from: 1, to: 0 }],
] as const)("the range %j of %d lines", (given, count, range) => {
  expect(rangeOf(given, count)).toEqual(range);
});

test.each([
  [[4, 10], 3],
  [[3, 2], 3],
  [[4, -1], 3],
  [[1, -2], 3],
  [[1, 0], 3],
] as const)("the range %j of %d lines holds no line", (given, count) => {
  expect(refusal(() => rangeOf(given, count))).toBe(
    `Error: Invalid \`view_range\` parameter: [${given.join(", ")}]. It should be within the range of lines of the file: [1, 3]`,
  );
});

const PATH = "/memories/preferences.txt";

test("the only occurrence is replaced, and its lines are told", () => {
  expect(replaced(PATH, "Line 1\nOld Text\nLine 3", "Old Text", "New Text")).toEqual({
    text: "Line 1\nNew Text\nLine 3",
    from: 2,
    to: 2,
  });
  expect(replaced(PATH, "a\nb\nc\n", "b\n", "x\ny\nz\n")).toEqual({
    text: "a\nx\ny\nz\nc\n",
    from: 2,
    to: 4,
  });
  expect(replaced(PATH, "a\nb\nc", "b\nc", "")).toEqual({ text: "a\n", from: 2, to: 2 });
});

test("dollar signs are put in as they are", () => {
  expect(replaced(PATH, "cost: 5", "5", "$& $1 $$").text).toBe("cost: $& $1 $$");
});

test("text that is not there, or is empty, replaces nothing", () => {
  expect(refusal(() => replaced(PATH, "Hello", "hello", "x"))).toBe(
    "No replacement was performed, old_str `hello` did not appear verbatim in /memories/preferences.txt.",
  );
  expect(refusal(() => replaced(PATH, "Hello", "", "x"))).toBe(
    "No replacement was performed, old_str `` did not appear verbatim in /memories/preferences.txt.",
  );
});

test("several occurrences are named by their lines, each line once", () => {
  expect(refusal(() => replaced(PATH, "Hello\nMiddle\nHello Hello", "Hello", "Hi"))).toBe(
    "No replacement was performed. Multiple occurrences of old_str `Hello` in lines: 1, 3. Please ensure it is unique",
  );
  expect(refusal(() => replaced(PATH, "aaa", "aa", "b"))).toContain("in lines: 1. ");
});

test("a file with CRLF is replaced and inserted into by LF text, and stays CRLF", () => {
  expect(replaced(PATH, "a\r\nb\r\nc\r\n", "a\nb", "x\ny").text).toBe("x\r\ny\r\nc\r\n");
  expect(inserted("a\r\nb\r\n", 1, "x")).toBe("a\r\nx\r\nb\r\n");
  expect(inserted("a\r\nb", 2, "x\ny")).toBe("a\r\nb\r\nx\r\ny");
});

test.each([
  ["Line 1\nLine 2", 1, "Inserted Line", "Line 1\nInserted Line\nLine 2"],
  ["Line 1\nLine 2", 0, "First", "First\nLine 1\nLine 2"],
  ["Line 1\nLine 2", 2, "Last", "Line 1\nLine 2\nLast"],
  ["Line 1\nLine 2\n", 2, "Last", "Line 1\nLine 2\nLast\n"],
  ["a\nb\n", 1, "- Review memory tool documentation\n", "a\n- Review memory tool documentation\nb\n"],
  ["a", 1, "b\n", "a\nb\n"],
  ["a\nb", 1, "x\n\n", "a\nx\n\nb"],
  ["a\nb", 1, "", "a\n\nb"],
  ["", 0, "first", "first"],
  ["", 0, "first\n", "first\n"],
  ["\n", 1, "x", "\nx\n"],
])("into %j after line %d: %j", (text, line, given, made) => {
  expect(inserted(text, line, given)).toBe(made);
});

test.each([
  ["Line 1\nLine 2", 10, 2],
  ["Line 1\nLine 2\n", 3, 2],
  ["a", -1, 1],
  ["", 1, 0],
])("into %j after line %d, which is not there", (text, line, count) => {
  expect(refusal(() => inserted(text, line, "x"))).toBe(
    `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${count}]`,
  );
});

const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é"), maxLength: 4 });
const body = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));

test("insert is a splice of lines, and nothing else moves", () => {
  fc.assert(
    fc.property(body, fc.nat(6), fc.array(line, { minLength: 1, maxLength: 3 }), (text, at, put) => {
      const before = linesOf(text);
      fc.pre(at <= before.length && text !== "");
      const after = linesOf(inserted(text, at, `${put.join("\n")}\n`));
      expect(after).toEqual([...before.slice(0, at), ...put, ...before.slice(at)]);
    }),
  );
});

test("replacing back gives the text again", () => {
  fc.assert(
    fc.property(body, fc.nat(8), fc.nat(8), line, (text, start, length, put) => {
      const old = text.slice(start, start + length);
      fc.pre(old !== "" && text.split(old).length === 2 && text.indexOf(old, text.indexOf(old) + 1) < 0);
      const made = replaced(PATH, text, old, `<${put}>`);
      expect(replaced(PATH, made.text, `<${put}>`, old).text).toBe(text);
      expect(linesOf(made.text)[made.from - 1]).toContain("<");
    }),
  );
});
