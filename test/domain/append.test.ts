import { expect, test } from "vitest";
import { appendTo } from "../../src/domain/append.ts";

const add = (body: string, content: string, heading: string | null = null) =>
  appendTo(body, content, heading, "\n");

test("text goes to the end, on lines of its own", () => {
  expect(add("", "x")).toBe("x");
  expect(add("a", "x")).toBe("a\nx");
  expect(add("a\n", "x\n")).toBe("a\nx\n");
});

const BODY = "# T\n\nintro\n\n## A\n\none\n\n### A.1\n\ntwo\n\n```\n## B\n```\n\n## B\n## C\n\nlast";

test("text goes to the end of a heading's section, its subsections included, fences not taken for headings", () => {
  expect(add(BODY, "x", "A")).toBe(BODY.replace("```\n\n## B\n## C", "```\nx\n\n## B\n## C"));
  expect(add(BODY, "x", "### A.1")).toBe(BODY.replace("```\n\n## B\n## C", "```\nx\n\n## B\n## C"));
  expect(add(BODY, "x\n", "C")).toBe(`${BODY}\nx\n`);
  expect(add(BODY, "x", "t")).toBe(`${BODY}\nx`);
});

test("under a heading with nothing below it", () => {
  expect(add(BODY, "x", "## B")).toBe(BODY.replace("## B\n## C", "## B\n\nx\n## C"));
  expect(add("## A\n\n\n## B\n", "x", "A")).toBe("## A\n\nx\n\n\n## B\n");
  expect(add("## A", "x", "A")).toBe("## A\n\nx");
});

test("CRLF is kept", () => {
  expect(appendTo("## A\r\none\r\n\r\n## B\r\n", "x\ny", "A", "\r\n")).toBe(
    "## A\r\none\r\nx\r\ny\r\n\r\n## B\r\n",
  );
  expect(appendTo("one", "x\ny", null, "\r\n")).toBe("one\r\nx\r\ny");
});

test("no such heading is refused with those there are", () => {
  expect(() => add(BODY, "x", "Z")).toThrow(
    expect.objectContaining({
      code: "INVALID_PARAMS",
      data: expect.objectContaining({ headings: ["# T", "## A", "### A.1", "## B", "## C"] }),
    }),
  );
  expect(() => add(BODY, "x", "# A")).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
});

test("a quarter of a megabyte of blank lines takes no time to speak of", () => {
  const blank = "\n".repeat(250_000);
  expect(add(`## A\n${blank}## B\n`, "x", "A").length).toBe(250_000 + 13);
});
