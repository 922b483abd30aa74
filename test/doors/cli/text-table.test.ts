import { expect, test } from "vitest";
import { counted, plain, short, styled } from "../../../src/doors/cli/text-table.ts";

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
