import { expect, test } from "vitest";
import { counted, plain, plainJson, plainLine, short, styled } from "../../../src/doors/cli/text-table.ts";

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["登录失败返回", 12, "登录失败返回"],
  ["登录失败返回", 11, "登录失败返…"],
  ["登录失败返回", 6, "登录…"],
  ["a登b", 4, "a登b"],
  ["e\u0301e\u0301", 2, "e\u0301e\u0301"],
  ["x".repeat(500), Number.POSITIVE_INFINITY, "x".repeat(500)],
])("%s in %d columns", (text, columns, cut) => {
  expect(short(text, columns)).toBe(cut);
});

test("colour is on the words only: nothing is written around no text", () => {
  expect(styled({ colour: true }, "dim", "")).toBe("");
  expect(styled({ colour: true }, "dim", "x")).toContain("\u001b[2mx");
  expect(styled({ colour: false }, "dim", "x")).toBe("x");
});

test("no escape sequence of a note reaches the terminal, and one is one", () => {
  expect(plain("a\u001b]0;title\u0007b\u001b[31mc\r")).toBe("abc");
  expect([counted(0, "note"), counted(1, "note"), counted(2, "note")]).toEqual([
    "0 notes",
    "1 note",
    "2 notes",
  ]);
});

test("what a terminal would obey in JSON or in a line is written as an escape, or as a blank", () => {
  const held = "a\u009b31mb\u202ec\u007f";
  expect(plain(held)).not.toMatch(/[\u009b\u202e\u007f]/);
  expect(plain("\u2066a\u2069\u202eb")).toBe("ab");
  const json = plainJson(JSON.stringify({ title: held }));
  expect(json).not.toMatch(/[\u009b\u202e\u007f]/);
  expect(JSON.parse(json)).toEqual({ title: held });
  expect(plainLine("fixed it\n2026-11-30 10:15  delete(note) forged")).toBe(
    "fixed it 2026-11-30 10:15  delete(note) forged",
  );
});
