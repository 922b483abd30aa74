import fc from "fast-check";
import { expect, test } from "vitest";
import { Pages } from "../../../src/lib/held/pages.ts";

/** Owners with their record's text and position, kept level with pages. */
function owners() {
  const held = new Map<number, { text: string; position: number }>();
  const pages = new Pages(
    (owner, position) => held.get(owner)?.position === position,
    (owner, position) => {
      const known = held.get(owner);
      if (known) known.position = position;
    },
  );
  const drop = (owner: number) => {
    const before = held.get(owner);
    held.delete(owner);
    if (before) pages.drop(before.position);
  };
  const put = (owner: number, text: string) => {
    const before = held.get(owner);
    held.set(owner, { text, position: pages.put(owner, Buffer.from(text)) });
    if (before) pages.drop(before.position);
  };
  const bytes = () => pages.pages().reduce((sum, page) => sum + page.bytes.length, 0);
  return { held, pages, put, drop, bytes };
}

test("whatever comes and goes, each owner's record is read as it was written, also from a file", () => {
  const change = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 400_000 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const { held, pages, put, drop } = owners();
      for (const [i, [owner, length, gone]] of changes.entries()) {
        if (gone) drop(owner);
        else put(owner, `${i}`.repeat(length % 7 === 0 ? 1 : length / 3));
      }
      const again = new Pages(
        () => false,
        () => {},
      );
      again.restore(pages.pages().map(({ page, bytes }) => ({ page, bytes: Buffer.from(bytes) })));
      for (const [owner, { position }] of held) again.claim(position, owner);
      again.restored();
      for (const { text, position } of held.values()) {
        expect(pages.read(position).equals(Buffer.from(text))).toBe(true);
        expect(again.read(position).equals(Buffer.from(text))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

test("memory follows what lives and not what was written", () => {
  const { put, bytes, held, pages } = owners();
  for (let n = 0; n < 1_000; n++) put(n, "x".repeat(2_000));
  for (let round = 0; round < 20; round++)
    for (let n = 0; n < 1_000; n++) put((n * 7) % 1_000, `${round}`.repeat(1_000));
  for (let n = 0; n < 3_000; n++) put(1, `${n}`.repeat(500));
  let live = 0;
  for (const { text } of held.values()) live += text.length;
  expect(bytes()).toBeLessThan(2 * live + (2 << 20));
  expect(pages.pages().length).toBeLessThan(10);
});

test("bytes that were handed out stay when their record has gone and the page with it", () => {
  const { put, pages, held } = owners();
  put(1, "keep me");
  const bytes = pages.read(held.get(1)?.position ?? -1);
  for (let n = 0; n < 4_000; n++) put(1 + (n % 2), "y".repeat(3_000));
  expect(bytes.toString()).toBe("keep me");
});
