import fc from "fast-check";
import { expect, test } from "vitest";
import type { RepoPath } from "../../../src/domain/note.ts";
import { freezeRows, noRows, type Row, readRows } from "../../../src/store/files/frozen-rows.ts";
import { at, blobOf } from "../../support/drafts.ts";

const bytesOf = (rows: { pieces(): Iterable<Uint8Array> }) => Buffer.concat([...rows.pieces()]);
const row = fc.record<Row>({
  base: fc.constantFrom(null, blobOf("a"), blobOf("b")),
  known: fc.option(
    fc.record({
      blob: fc.constantFrom(blobOf("a"), blobOf("c")),
      signature: fc.stringMatching(/^[0-9:]{1,60}$/),
    }),
  ),
});
const path = fc
  .tuple(fc.constantFrom("", "notes/", "notes/x/", "notes x/", "memory/ä/"), fc.string({ minLength: 1 }))
  .map(([folder, name]) => at(`${folder}${name.replaceAll("/", "-")}.md`));

test("rows come back as they were put, also from their bytes, by path and by folder", async () => {
  const given = fc.uniqueArray(fc.tuple(path, row), { selector: ([own]) => own, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(given, async (put) => {
      const frozen = await freezeRows(put);
      for (const rows of [frozen, readRows(bytesOf(frozen))]) {
        if (rows === null) throw new Error("refused");
        expect(rows.size).toBe(put.length);
        expect(new Map(rows.each())).toEqual(new Map(put));
        for (const [own, { base, known }] of put)
          expect([rows.base(own), rows.known(own)]).toEqual([base, known]);
        expect([rows.base(at("no.md")), rows.known(at("no.md")), rows.has(at("no.md"))]).toEqual([
          null,
          null,
          false,
        ]);
        const below = (under: string) =>
          put
            .flatMap(([own, { base }]) => (base !== null && own.startsWith(`${under}/`) ? [own] : []))
            .sort();
        for (const under of ["notes", "notes/x", "memory", "note"])
          expect([...rows.paths(under)].sort()).toEqual(below(under));
      }
    }),
  );
});

test("bytes that are damaged, cut short or of something else are refused", async () => {
  const rows = Array.from({ length: 20 }, (_, i): [RepoPath, Row] => [
    at(`notes/${i}.md`),
    { base: blobOf(`${i}`), known: null },
  ]);
  const bytes = bytesOf(await freezeRows(rows));
  expect(readRows(bytes)?.size).toBe(20);
  for (let i = 0; i < bytes.length; i += 11) {
    const odd = Buffer.from(bytes);
    odd[i] = (odd[i] ?? 0) ^ 4;
    expect(readRows(odd)).toBeNull();
    expect(readRows(bytes.subarray(0, i))).toBeNull();
  }
  expect(readRows(Buffer.from("no table\nat all, and no checksum"))).toBeNull();
  expect(readRows(bytesOf(noRows()))?.size).toBe(0);
});
