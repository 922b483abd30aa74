import { expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { diffEntries } from "../../../src/store/trees/entry-diff.ts";

const BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/** Trees one in another: `wide` names for the next, so many levels deep; the lowest holds one file. */
function nested(levels: number, wide: number) {
  const trees = new Map<string, Uint8Array>();
  const add = (mode: string, names: readonly string[], id: string) => {
    const bytes = Buffer.concat(
      names.map((name) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])),
    );
    trees.set(hashObject("tree", bytes), bytes);
    return hashObject("tree", bytes);
  };
  let id = add("100644", ["a.md"], BLOB);
  const names = Array.from({ length: wide }, (_, i) => `f${i}`);
  for (let level = 0; level < levels; level++) id = add("40000", names, id);
  const read = (tree: string) => trees.get(tree) ?? new Uint8Array();
  return { read, id };
}

test("a few trees that stand for a myriad of files are refused, and what fits is told", async () => {
  const bomb = nested(40, 10);
  await expect(diffEntries(bomb.read, null, bomb.id, 5_000)).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringContaining("5000"),
  });
  const small = nested(3, 10);
  expect(await diffEntries(small.read, null, small.id)).toHaveLength(1_000);
});

test("folders one in another without an end are refused by their path", async () => {
  const deep = nested(3_000, 1);
  await expect(diffEntries(deep.read, null, deep.id)).rejects.toMatchObject({ code: "INVALID_PARAMS" });
});
