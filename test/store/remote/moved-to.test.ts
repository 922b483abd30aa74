import { expect, test } from "vitest";
import { movedTo } from "../../../src/store/remote/moved-to.ts";

const at = "https://git.example/a.git/info/refs";

test.each([
  [at, "/b.git/info/refs", "https://git.example/b.git/info/refs"],
  [at, "https://u:p@git.example/b.git", "https://git.example/b.git"],
  ["http://git.example/a.git", "https://git.example/a.git", "https://git.example/a.git"],
])("from %s to %s is followed", (from, location, to) => {
  expect(movedTo(from, location, "origin")).toBe(to);
});

test.each([
  [at, "http://git.example/a.git/info/refs", /https to http/],
  [at, "//other.example/a.git/info/refs", /moved to https:\/\/other\.example/],
  [at, "https://git.example:8443/a.git/info/refs", /moved to/],
  [at, "file:///etc/passwd", /no URL/],
  [at, "http://", /no URL/],
  [at, null, /no URL/],
])("from %s to %s is not", (from, location, why) => {
  expect(() => movedTo(from, location, "origin")).toThrow(why);
});
