import { expect, test } from "vitest";
import { keepsChanges } from "../../src/domain/keeps-changes.ts";

test.each([
  ["more was added beside it", "a\nz\n", "a\nnew\nz\n", "a\nnew\nmore\nz\n", true],
  ["nothing more happened", "a\n", "a\nnew\n", "a\nnew\n", true],
  ["other lines went", "a\nb\nz\n", "a\nb\nnew\nz\n", "a\nnew\nz\n", true],
  ["what it removed stays away", "a\nold\nz\n", "a\nz\n", "a\nz\nmore\n", true],
  ["its line was taken out again", "a\nz\n", "a\nnew\nz\n", "a\nz\nmore\n", false],
  ["its line was changed", "a\nz\n", "a\nnew\nz\n", "a\nNEW\nz\n", false],
  ["what it removed came back", "a\nold\nz\n", "a\nz\n", "a\nold\nz\nmore\n", false],
  ["the other one never saw it", "a\n", "a\nours\n", "a\ntheirs\n", false],
])("%s", (_what, base, change, later, kept) => {
  expect(keepsChanges(base, change, later)).toBe(kept);
});

test("a text of very many edits is not said to keep anything", () => {
  const lines = (word: string) => Array.from({ length: 3000 }, (_, i) => `${word} ${i}\n`).join("");
  expect(keepsChanges(lines("a"), lines("b"), lines("c"))).toBe(false);
});
