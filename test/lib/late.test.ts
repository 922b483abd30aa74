import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { late } from "../../src/lib/late.ts";

test("a package is loaded with the first call and once", () => {
  const { cache, resolve } = createRequire(import.meta.url);
  const file = resolve("canonicalize");
  delete cache[file];
  const canonicalize = late<(value: unknown) => string>("canonicalize");
  expect(file in cache).toBe(false);
  expect(canonicalize()({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
  expect(file in cache).toBe(true);
  expect(canonicalize()).toBe(canonicalize());
});

test("a package that is not there is told of where it is wanted", () => {
  const absent = late<unknown>("a-package-that-nobody-installed");
  expect(absent).toThrow(/a-package-that-nobody-installed/);
});
