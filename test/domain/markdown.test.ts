import { expect, test } from "vitest";
import { headings, markdownLines } from "../../src/domain/markdown.ts";

test("ATX and setext headings are found, those in fences are not", () => {
  const text =
    "# One #\n\n```sh\n# no\n~~~\n```\nTwo\n===\r\nThree\n---\n\n---\n####### no\n#no\n  ## Four\n- item\n---\n";
  expect(headings(text).map(({ level, text: title }) => [level, title])).toEqual([
    [1, "One"],
    [1, "Two"],
    [2, "Three"],
    [2, "Four"],
  ]);
});

test("offsets cut the heading out of the text", () => {
  const text = "a\r\n\r\n## B ##\r\nc";
  const [heading] = headings(text);
  expect(text.slice(heading?.start, heading?.end)).toBe("## B ##\r\n");
});

test("an unclosed fence reaches to the end; a longer one is not closed by a shorter", () => {
  expect(headings("````\n```\n# no\n")).toEqual([]);
  expect([...markdownLines("a\n~~~\nb")].map((line) => line.fenced)).toEqual([false, true, true]);
});
