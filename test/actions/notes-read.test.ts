import { expect, test } from "vitest";
import { caller } from "../support/call.ts";

async function noteOf(content: string) {
  const { call, fails } = caller();
  const { note_id } = await call("notes.create", { title: "t", content });
  return {
    read: (params: object = {}) => call("notes.read", { note_id, ...params }),
    fails: (params: object = {}) => fails("notes.read", { note_id, ...params }),
  };
}

test("the whole text comes back byte for byte, without flags that are not set", async () => {
  const content = "---\r\n\r\nodd  \n\ttext 🙂\n";
  const answer = await (await noteOf(content)).read();
  expect(answer["content"]).toBe(content);
  expect(Object.keys(answer).sort()).toEqual(["content", "metadata"]);
});

test("offset and limit count lines, and truncated says that lines follow", async () => {
  const { read } = await noteOf("one\ntwo\nthree");
  expect(await read({ limit: 2 })).toMatchObject({ content: "one\ntwo\n", truncated: true });
  expect(await read({ offset: 2 })).not.toHaveProperty("truncated");
  expect(await read({ offset: 1, limit: 2 })).toMatchObject({ content: "two\nthree" });
  expect(await read({ offset: 9 })).toMatchObject({ content: "" });
});

test("a heading gives its section up to the next of its level, and code fences hold no headings", async () => {
  const { read, fails } = await noteOf("# A\na\n## B\nb\n```\n# no\n```\n### C\nc\n## D ##\nd\n# E\n");
  expect(await read({ heading: "B" })).toMatchObject({ content: "## B\nb\n```\n# no\n```\n### C\nc\n" });
  expect(await read({ heading: "## D" })).toMatchObject({ content: "## D ##\nd\n" });
  expect(await read({ heading: "e" })).toMatchObject({ content: "# E\n" });
  expect(await fails({ heading: "no" })).toMatchObject({
    code: "INVALID_PARAMS",
    data: { issues: [{ path: "heading" }], headings: ["# A", "## B", "### C", "## D", "# E"] },
  });
});

test.each([{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { limit: "5" }, { offset: -1 }])(
  "%j is refused",
  async (params) => {
    expect((await (await noteOf("x")).fails(params)).code).toBe("INVALID_PARAMS");
  },
);

test("an id with ../ is an unknown note", async () => {
  expect((await caller().fails("notes.read", { note_id: "../secret" })).code).toBe("NOT_FOUND");
});

test("a text too long for one answer is cut at a line and can be read on", async () => {
  const line = `${"\u0001".repeat(99)}\n`;
  const { read } = await noteOf(line.repeat(3000));
  let text = "";
  for (let offset = 0; ; offset = text.split("\n").length - 1) {
    const answer = await read({ offset });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(950_000);
    text += answer["content"];
    if (!answer["truncated"]) break;
  }
  expect(text).toBe(line.repeat(3000));
});
