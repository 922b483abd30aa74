import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMemoryPath } from "../../../src/domain/memory-tool/memory-path.ts";
import { byName, listDirectory, type MemoryFile } from "../../../src/domain/memory-tool/memory-tree.ts";
import type { NoteId } from "../../../src/domain/note.ts";

const files = (...names: string[]): MemoryFile[] =>
  // Any text will do for an id here.
  names.map((name) => ({ name, noteId: `mem_${name}` as NoteId, bytes: name.length }));
const at = parseMemoryPath;

function listing(path: string, ...given: string[]) {
  const place = at(path);
  const inside = place.key === "" ? "" : `${place.key}/`;
  return listDirectory(
    place,
    files(...given).filter(({ name }) => name.startsWith(inside)),
  );
}

test("files stand by name", () => {
  expect(byName(files("b", "a/y", "a/x", "ab")).map(({ name }) => name)).toEqual(["a/x", "a/y", "ab", "b"]);
});

test("a listing goes two levels deep, each directory before what is in it", () => {
  expect(listing("/memories", "b.md", "a/x", "a/sub/deep/z", "a/sub/y", "c/only").items).toEqual([
    { path: "/memories/a/", bytes: 22 },
    { path: "/memories/a/sub/", bytes: 19 },
    { path: "/memories/a/x", bytes: 3 },
    { path: "/memories/b.md", bytes: 4 },
    { path: "/memories/c/", bytes: 6 },
    { path: "/memories/c/only", bytes: 6 },
  ]);
});

test("a listing of a directory inside counts its levels from there", () => {
  const { bytes, items } = listing("/memories/a/", "a/x", "a/s/y", "a/s/t/z", "b");
  expect(items.map(({ path }) => path)).toEqual([
    "/memories/a/s/",
    "/memories/a/s/t/",
    "/memories/a/s/y",
    "/memories/a/x",
  ]);
  expect(bytes).toBe(15);
});

test("hidden items and node_modules are left out, with what is in them and their bytes", () => {
  const { bytes, items } = listing(
    "/memories",
    ".env",
    "a/.b",
    ".c/d",
    "node_modules/x",
    "a/node_modules/y",
    "a/z",
  );
  expect(items.map(({ path }) => path)).toEqual(["/memories/a/", "/memories/a/z"]);
  expect(bytes).toBe(3);
});

test("a hidden directory that is asked for by name shows what it holds", () => {
  expect(listing("/memories/.c", ".c/d").items).toEqual([{ path: "/memories/.c/d", bytes: 4 }]);
});

test("a file and a directory of one name are both shown", () => {
  expect(listing("/memories", "a", "a/b").items.map(({ path }) => path)).toEqual([
    "/memories/a",
    "/memories/a/",
    "/memories/a/b",
  ]);
});

test("nothing is an empty listing", () => {
  expect(listing("/memories")).toEqual({ bytes: 0, items: [] });
});

test("the bytes of the whole are those of all that is not hidden, and rows come in the order of a walk", () => {
  const name = fc
    .array(fc.constantFrom("a", "b", "a-b", "a.b", ".h", "node_modules", "Z", "é"), {
      minLength: 1,
      maxLength: 4,
    })
    .map((segments) => segments.join("/"));
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 12 }), (given) => {
      const { bytes, items } = listing("/memories", ...given);
      const seen = given.filter((one) => !/(^|\/)(\.|node_modules(\/|$))/.test(one));
      expect(bytes).toBe(seen.reduce((sum, one) => sum + one.length, 0));
      const paths = items.map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      for (const [i, path] of paths.entries()) {
        const parent = path.replace(/\/[^/]+\/?$/, "/");
        if (parent !== "/memories/") expect(paths.slice(0, i)).toContain(parent);
      }
      const shownFiles = paths.filter((path) => !path.endsWith("/"));
      expect(shownFiles.sort()).toEqual(
        seen
          .filter((one) => one.split("/").length <= 2)
          .map((one) => `/memories/${one}`)
          .sort(),
      );
    }),
  );
});
