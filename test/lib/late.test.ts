import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { late } from "../../src/lib/late.ts";

test("a package is loaded with the first call and once", () => {
  const { cache, resolve } = createRequire(import.meta.url);
  const file = resolve("gray-matter");
  delete cache[file];
  const matter = late<(text: string, options: object) => { content: string }>("gray-matter");
  expect(file in cache).toBe(false);
  expect(matter()("---\na: 1\n---\nbody\n", {}).content).toBe("body\n");
  expect(file in cache).toBe(true);
  expect(matter()).toBe(matter());
});

test("a package that is not there is told of where it is wanted", () => {
  const absent = late<unknown>("a-package-that-nobody-installed");
  expect(absent).toThrow(/a-package-that-nobody-installed/);
});
