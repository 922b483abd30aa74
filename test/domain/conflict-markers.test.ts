import { expect, test } from "vitest";
import { conflictMarkers } from "../../src/domain/conflict-markers.ts";

const CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n";

test("a complete set of markers is found with its line", () => {
  expect(conflictMarkers(`# Title\n\n${CONFLICT}after\n`)).toBe(3);
});

test("also with CRLF, with a base between, without labels, in front matter, and with fences inside", () => {
  expect(conflictMarkers(CONFLICT.replaceAll("\n", "\r\n"))).toBe(1);
  expect(conflictMarkers("<<<<<<< a\nx\n||||||| base\ny\n=======\nz\n>>>>>>> b")).toBe(1);
  expect(conflictMarkers("<<<<<<<\nx\n=======\nz\n>>>>>>>\n")).toBe(1);
  expect(conflictMarkers(`---\nid: x\n${CONFLICT}---\n`)).toBe(3);
  expect(conflictMarkers("<<<<<<< a\n```js\n=======\n```ts\n>>>>>>> b\n")).toBe(1);
  expect(conflictMarkers(`\`\`\`\ncode\n\`\`\`\n${CONFLICT}`)).toBe(4);
});

test.each([
  ["in a fence", `\`\`\`\n${CONFLICT}\`\`\`\n`],
  ["in a longer fence of tildes", `~~~~ diff\n\`\`\`\n${CONFLICT}~~~\nstill code\n`],
  ["indented", CONFLICT.replaceAll(/^/gm, "    ")],
  ["quoted", CONFLICT.replaceAll(/^/gm, "> ")],
  ["not all three", "<<<<<<< HEAD\nours\n>>>>>>> other\n"],
  ["in another order", ">>>>>>> b\n=======\n<<<<<<< a\n"],
  ["a heading underlined with signs", "Title\n=======\n"],
  ["eight signs", "<<<<<<<< a\n========\n>>>>>>>> b\n"],
])("markers %s are text", (_how, text) => {
  expect(conflictMarkers(text)).toBeNull();
});
