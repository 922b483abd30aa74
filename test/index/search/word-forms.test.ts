import { expect, test } from "vitest";
import { wordForms } from "../../../src/index/search/word-forms.ts";

test.each([
  ["timeout", "timeouts"],
  ["timeouts", "timeout"],
  ["queries", "query"],
  ["query", "queries"],
  ["caching", "cache"],
  ["cached", "caching"],
  ["failed", "fails"],
  ["expires", "expired"],
])("%s may stand as %s", (word, other) => {
  expect(wordForms(word)).toContain(other);
});

test.each(["api", "数据", "v2x9", "élan", "status"])("%s is no form of something shorter", (word) => {
  expect(wordForms(word).filter((form) => form.length < word.length)).toEqual([]);
});
