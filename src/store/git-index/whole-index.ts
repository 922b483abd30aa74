/**
 * An index in one piece: an image's entries copied together, with where each starts carried over instead of
 * found again; and what tells one such run from another, for standing an image on a new shared index.
 */
import { HEADER_BYTES, headerBytes, withChecksum } from "./index-bytes.ts";
import {
  type Change,
  compareName,
  countOf,
  type EntryRun,
  entryBytes,
  type IndexImage,
  namedSo,
  nameOf,
  rawAt,
  runLength,
  startOf,
} from "./index-image.ts";
import { extensionsOf } from "./split-index.ts";

/** Entries compared at once. */
const BLOCK = 256;

/**
 * The bytes of a whole index, and the image over them.
 * @param extended false leaves the extensions out, as a shared index has none
 * @cost one copy and one SHA-1 of the file: 10 ms at 100,000 entries
 */
export function wholeIndex(
  image: IndexImage,
  extended = true,
): { readonly bytes: Buffer; readonly image: IndexImage } {
  const { parts, starts } = pieces(image);
  const bytes = withChecksum([...parts, ...(extended ? extensionsOf(image) : [])]);
  return {
    bytes,
    image: { ...image, run: { bytes, starts, version: image.version }, shared: null, changes: [] },
  };
}

function pieces({ version, run, changes }: IndexImage): { parts: Buffer[]; starts: Uint32Array } {
  const starts = new Uint32Array(countOf({ run, changes }) + 1);
  const parts = [headerBytes(version, starts.length - 1)];
  let from = 0;
  let to = 0;
  let at = HEADER_BYTES;
  const keepUntil = (first: number) => {
    const start = startOf(run, from);
    const end = startOf(run, first);
    parts.push(run.bytes.subarray(start, end));
    const by = at - start;
    if (by === 0) starts.set(run.starts.subarray(from, first), to);
    else for (let index = from; index < first; index++) starts[to + index - from] = startOf(run, index) + by;
    to += first - from;
    at += end - start;
    from = first;
  };
  for (const change of changes) {
    keepUntil(change.at);
    from += change.over;
    for (const entry of change.entries) {
      parts.push(entry);
      starts[to++] = at;
      at += entry.length;
    }
  }
  keepUntil(runLength(run));
  starts[to] = at;
  return { parts, starts };
}

/**
 * The image as it stands on another run of entries.
 * @param name 40 hex digits of the shared index that the run is
 * @cost a copy of the entries and a comparison in blocks: 3 ms at 100,000 entries that are mostly the same
 */
export function standOn(image: IndexImage, name: string, run: EntryRun): IndexImage {
  const { parts, starts } = pieces(image);
  const changes = differences(run, { bytes: Buffer.concat(parts), starts, version: image.version });
  return { ...image, run, shared: name, changes };
}

/** What makes one run another; both are sorted. */
function differences(from: EntryRun, to: EntryRun): Change[] {
  const changes: Change[] = [];
  let a = 0;
  let b = 0;
  while (a < runLength(from) || b < runLength(to)) {
    const same = commonBlock(from, a, to, b);
    if (same > 0) {
      a += same;
      b += same;
      continue;
    }
    const key = nextKey(from, a, to, b);
    const over = namedSo(from, a, key);
    const now = namedSo(to, b, key);
    // Copies: what they would be cut from is as large as the index.
    const entries = Array.from({ length: now }, (_, n) => Buffer.from(entryBytes(to, b + n)));
    if (over !== now || !entries.every((entry, n) => entryBytes(from, a + n).equals(entry)))
      changes.push({ key: Buffer.from(key), at: a, over, entries });
    a += over;
    b += now;
  }
  return changes;
}

/** How many entries from here on are surely the same: a block's, one's, or 0. Stages of one path stay together. */
function commonBlock(from: EntryRun, a: number, to: EntryRun, b: number): number {
  for (const count of [BLOCK, 8, 1]) {
    const [endA, endB] = [a + count, b + count];
    if (endA > runLength(from) || endB > runLength(to)) continue;
    const [start, end] = [startOf(from, a), startOf(from, endA)];
    const [other, otherEnd] = [startOf(to, b), startOf(to, endB)];
    if (end - start !== otherEnd - other) continue;
    if (from.bytes.compare(to.bytes, other, otherEnd, start, end) !== 0) continue;
    const last = nameOf(rawAt(from, endA - 1));
    if (namedSo(from, endA, last) === 0 && namedSo(to, endB, last) === 0) return count;
  }
  return 0;
}

/** The smaller of the two names that come next. */
function nextKey(from: EntryRun, a: number, to: EntryRun, b: number): Buffer {
  if (a >= runLength(from)) return nameOf(rawAt(to, b));
  if (b >= runLength(to)) return nameOf(rawAt(from, a));
  const key = nameOf(rawAt(to, b));
  return compareName(rawAt(from, a), key) < 0 ? nameOf(rawAt(from, a)) : key;
}
