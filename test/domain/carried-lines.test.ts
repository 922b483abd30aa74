import fc from "fast-check";
import { expect, test } from "vitest";
import { carriedLines, wordDiff } from "../../src/domain/carried-lines.ts";

test("a carried line is the same line, in order, and none is carried twice", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const from = [...carriedLines(before, after)];
      for (const [at, line] of from.entries()) if (line >= 0) expect(before[line]).toBe(after[at]);
      const carried = from.filter((line) => line >= 0);
      expect(carried).toEqual([...new Set(carried)].sort((a, b) => a - b));
    }),
  );
  expect([...carriedLines(["a", "b", "c"], ["a", "x", "c"])]).toEqual([0, -1, 2]);
  expect([...carriedLines(["a"], ["a"])]).toEqual([0]);
});

test("what two texts share and what each has alone make up both, in any script", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 40 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = wordDiff(before, after);
      const side = (kind: string) =>
        parts
          .filter((part) => part.kind !== kind)
          .map((part) => part.text)
          .join("");
      expect([side("come"), side("gone")]).toEqual([before, after]);
    }),
  );
  expect(wordDiff("the old cause", "the new cause")).toEqual([
    { kind: "same", text: "the " },
    { kind: "gone", text: "old" },
    { kind: "come", text: "new" },
    { kind: "same", text: " cause" },
  ]);
  expect(
    wordDiff("数据库连接超时", "数据库连接正常").some(({ kind, text }) => kind === "same" && text !== ""),
  ).toBe(true);
});
