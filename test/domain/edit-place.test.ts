import { expect, test } from "vitest";
import { linesOf, nearestText, placesOf } from "../../src/domain/edit-place.ts";

test("a text is found wherever it begins, within itself too", () => {
  expect(placesOf("aaa b aa", "aa")).toEqual([0, 1, 6]);
  expect(placesOf("abc", "x")).toEqual([]);
});

test("a long text of one character that occurs everywhere is counted without counting for minutes", () => {
  const places = placesOf("a".repeat(262_144), "a".repeat(131_072));
  expect(places.length).toBeGreaterThanOrEqual(1_000);
});

test("lines count from 1, each once, and at most twenty are named", () => {
  const body = "x x\n\ny x\r\nx";
  expect(linesOf(body, placesOf(body, "x"))).toEqual([1, 3, 4]);
  const many = "x\n".repeat(100);
  expect(linesOf(many, placesOf(many, "x"))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
});

test("what differs in blanks and line ends alone is named as it stands", () => {
  const body = "# Plan\r\n\r\n- read  the\ttoken\r\n- then the rest\r\n";
  expect(nearestText(body, " read the token\n- then\n")).toEqual({
    line: 3,
    text: "read  the\ttoken\r\n- then",
  });
});

test("else the line most like the longest one of the text, in any script, or none", () => {
  const body = "one\nThe refresh token is read too early.\n数据库连接超时了\n";
  expect(nearestText(body, "x\nThe refresh-token was read too early")).toEqual({
    line: 2,
    text: "The refresh token is read too early.",
  });
  expect(nearestText(body, "数据库的连接超时")).toEqual({ line: 3, text: "数据库连接超时了" });
  expect(nearestText(body, "something else entirely")).toBeNull();
  expect(nearestText("", "x")).toBeNull();
});

test("a line that is too long to be an answer is none", () => {
  const line = "word ".repeat(1_000);
  expect(nearestText(line, `${line} more`)).toBeNull();
});
