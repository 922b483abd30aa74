import fc from "fast-check";
import { expect, test } from "vitest";
import type { BlobId } from "../../../src/domain/note.ts";
import { ewahBytes } from "../../../src/store/git-index/ewah.ts";
import { type GitIndex, gitIndex, over } from "../../../src/store/git-index/git-index.ts";
import {
  emptyIndex,
  extensionBytes,
  HEADER_BYTES,
  headerBytes,
  parseIndex,
  withChecksum,
} from "../../../src/store/git-index/index-bytes.ts";
import { runLength } from "../../../src/store/git-index/index-image.ts";
import { splitBytes } from "../../../src/store/git-index/split-index.ts";
import { standOn, wholeIndex } from "../../../src/store/git-index/whole-index.ts";
import { at, blobOf } from "../../support/drafts.ts";

const ENTRIES = 40;
const NAME = "5".repeat(40);
const noteAt = (n: number) => at(`notes/${String(n).padStart(3, "0")}.md`);

/** A shared index of notes, and a split one over it in which one is gone, some are changed and some new. */
function split() {
  const notes = Array.from({ length: ENTRIES }, (_, n) => noteAt(n));
  const whole = gitIndex(emptyIndex()).edit(
    notes.map((path) => ({ path, expected: null, blob: blobOf("a"), stat: null })),
  );
  const { run } = wholeIndex(whole.index.image, false).image;
  const changed = (n: number, blob: BlobId | null) => {
    const expected = n < ENTRIES ? blobOf("a") : null;
    return { path: noteAt(n), expected, blob, stat: null };
  };
  const { image } = over(standOn(whole.index.image, NAME, run)).edit([
    changed(3, null),
    ...[5, 6, 30, ENTRIES, ENTRIES + 1].map((n) => changed(n, blobOf("b"))),
  ]).index;
  const bytes = splitBytes(image, NAME);
  const parsed = parseIndex(bytes);
  const count = runLength(parsed);
  const entries = bytes.subarray(HEADER_BYTES, parsed.starts[count]);
  const link = parsed.link ?? Buffer.alloc(0);
  /** The same entries under another link. */
  const under = (other: Buffer): GitIndex =>
    gitIndex(withChecksum([headerBytes(2, count), entries, extensionBytes("link", other)]), () => run);
  return { link, under };
}

const { link, under } = split();
const naming = (gone: readonly number[], replaced: readonly number[]) =>
  Buffer.concat([Buffer.from(NAME, "hex"), ewahBytes(gone), ewahBytes(replaced)]);
const damage = expect.objectContaining({ code: "STORAGE" });

test("a link that deletes what it replaces is damaged, and so is one under which an entry has no name", () => {
  expect(naming([3], [5, 6, 30]).equals(link)).toBe(true);
  expect(under(link).count).toBe(ENTRIES + 1);
  for (const [gone, replaced] of [
    [
      [3, 5],
      [5, 6, 30],
    ],
    [[30], [5, 6, 30]],
    [[3], [5, 6]],
    [[3], [5, 6, 7, 30]],
    [[3], [5, 6, 7, 8, 9, 30]],
  ] as const)
    expect(() => under(naming(gone, replaced))).toThrow(damage);
});

const positions = fc
  .uniqueArray(fc.nat(ENTRIES + 2), { maxLength: 8 })
  .map((some) => some.sort((a, b) => a - b));
const flips = fc.array(fc.tuple(fc.nat(link.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
const other = fc.oneof(
  fc.tuple(positions, positions).map(([gone, replaced]) => naming(gone, replaced)),
  // Three replaced, as there are entries for: what is deleted may be among them.
  positions.map((gone) => naming(gone, [5, 6, 30])),
  flips.map((some) => {
    const bytes = Buffer.from(link);
    for (const [n, byte] of some) bytes[n] = byte;
    return bytes;
  }),
  fc.nat(link.length).map((length) => link.subarray(0, length)),
  fc.uint8Array({ maxLength: 60 }).map((tail) => Buffer.concat([link.subarray(0, 20), tail])),
);

test("whatever stands in a link, the index is read, sorted and the same when written again, or refused", () => {
  fc.assert(
    fc.property(other, (bytes) => {
      let index: GitIndex;
      try {
        index = under(bytes);
      } catch (error) {
        expect(error).toEqual(damage);
        return;
      }
      // Nothing is split on a name of zeros; then the entries are what they are.
      if (index.image.shared === null) return;
      const paths = [...index.entries()].map(({ path }) => path);
      expect(paths).toEqual([...new Set(paths)].sort());
      expect(paths).toHaveLength(index.count);
      expect([...gitIndex(wholeIndex(index.image).bytes).entries()]).toEqual([...index.entries()]);
    }),
    { numRuns: 2_000 },
  );
});
