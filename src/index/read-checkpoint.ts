/**
 * An index from a checkpoint's bytes, each part of which is read into memory of its own and stays where it is: a
 * column is that memory. Disposable: whatever isn't exactly ours is refused and the caller rebuilds; a tail that was
 * not written to its end counts for nothing. Invariant: restored, it answers every question as the index that wrote
 * it, and folds on from there.
 */
import { crc32 } from "node:zlib";
import { mustBeLevel } from "../lib/held/column.ts";
import {
  CHECKSUM_BYTES,
  checksum,
  FORMAT,
  type Line,
  MAGIC,
  markOf,
  type Origin,
  readingOf,
} from "./checkpoint.ts";
import { emptyParts, type Parts } from "./parts.ts";
import type { FrozenArrays } from "./search/frozen-words.ts";

/** Where a checkpoint lies. */
export interface CheckpointBytes {
  readonly length: number;
  /** So many bytes from a place on, or as many as there are, in memory of their own. */
  read(from: number, length: number): Buffer;
}

/** A checkpoint that is in memory already; what is read of it is copied. */
export const inMemory = (bytes: Uint8Array): CheckpointBytes => ({
  length: bytes.length,
  read: (from, length) => Buffer.from(new Uint8Array(bytes.subarray(from, from + length)).buffer),
});

interface Segment {
  readonly line: Line;
  /** In the order of the line. */
  readonly rows: readonly Buffer[];
  readonly head: readonly Buffer[];
  readonly pages: readonly Buffer[];
  readonly words: readonly Buffer[];
  readonly slots: readonly Buffer[];
  /** Bytes from its first to its last. */
  readonly size: number;
}

/**
 * Read a checkpoint back, without any blob.
 * @param requests  how many a head remembers, see `emptyParts`
 * @returns null for bytes of another format, fingerprint or program, or damaged in the first segment: rebuild
 *   then; else the index as of the last segment that is whole
 * @throws what reading the bytes throws
 * @cost one pass over the bytes; the words of the notes are indexed afterwards
 */
export function readCheckpoint(
  bytes: CheckpointBytes,
  fingerprint: string,
  requests?: number,
): { readonly parts: Parts; readonly origin: Origin } | null {
  const sizes = emptyParts().graph.rows.map(({ size }) => size);
  const segments: Segment[] = [];
  let read = 0;
  while (read < bytes.length) {
    const segment = orRefused(() => segmentAt(bytes, read, fingerprint, sizes));
    if (segment === null || segment.line.whole !== (segments.length === 0)) break;
    segments.push(segment);
    read += segment.size;
  }
  const last = segments.at(-1);
  const parts = last === undefined ? null : orRefused(() => partsOf(segments, last.line, requests));
  return parts && { parts, origin: { mark: markOf(parts), bytes: read, wholeBytes: segments[0]?.size ?? 0 } };
}

/** Null where numbers lead nowhere and members are missing, whether or not a checksum holds over them. */
function orRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    // Outcome: rebuilt, as for a damaged file.
    if (error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError)
      return null;
    throw error;
  }
}

const LINE_START = Buffer.from(`{"magic":"${MAGIC}","format":${FORMAT},`);
/** Most lines are shorter. */
const FIRST_READ_BYTES = 16 << 10;

/** The line that a segment begins with, its end too; null: there is none. */
function lineBytes(bytes: CheckpointBytes, from: number): Buffer | null {
  for (let length = FIRST_READ_BYTES; ; length *= 2) {
    const read = bytes.read(from, length);
    if (!read.subarray(0, LINE_START.length).equals(LINE_START)) return null;
    const end = read.indexOf("\n");
    if (end >= 0) return read.subarray(0, end + 1);
    if (read.length < length) return null;
  }
}

/** @throws RangeError, TypeError, SyntaxError  the line is none of ours */
function segmentAt(
  bytes: CheckpointBytes,
  from: number,
  fingerprint: string,
  sizes: readonly number[],
): Segment | null {
  const said = lineBytes(bytes, from);
  if (said === null) return null;
  // Believed only once the checksum holds; until then no length reaches past the end.
  const line = JSON.parse(said.toString("utf8")) as Line;
  if (line.format !== FORMAT || line.reading !== readingOf(fingerprint)) return null;
  let at = from + said.length;
  const end = at + line.bytes;
  if (!(Number.isSafeInteger(line.bytes) && line.bytes >= 0 && end + CHECKSUM_BYTES <= bytes.length))
    return null;
  let sum = crc32(said);
  const take = (length: number): Buffer => {
    if (!(Number.isSafeInteger(length) && length >= 0 && length <= end - at))
      throw new RangeError(`no ${length} bytes are left`);
    const part = bytes.read(at, length);
    if (part.length !== length) throw new RangeError("the file became shorter");
    // zlib begins anew where there is no memory to look at.
    if (length > 0) sum = crc32(part, sum);
    at += length;
    return part;
  };
  const segment = {
    line,
    rows: sizes.map((size, i) => take(size * ((line.rows[i]?.[1] ?? 0) - (line.rows[i]?.[0] ?? 0)))),
    head: line.paths.map(take),
    pages: line.pages.map(([, start, stop]) => take(stop - start)),
    words: line.words.map(take),
    slots: line.slots.map(([, , length]) => take(length)),
    size: end + CHECKSUM_BYTES - from,
  };
  const found = bytes.read(end, CHECKSUM_BYTES).toString("latin1");
  return at === end && found === checksum(sum) ? segment : null;
}

function partsOf(segments: readonly Segment[], last: Line, requests?: number): Parts | null {
  const parts = emptyParts(requests);
  const { graph, state } = parts;
  const pages = new Map<number, readonly Buffer[]>();
  for (const segment of segments) {
    for (const [i, column] of graph.rows.entries()) {
      if ((segment.line.rows[i]?.[0] ?? 0) !== column.length) return null;
      column.append(segment.rows[i] ?? Buffer.alloc(0));
    }
    for (const [i, [page, from]] of segment.line.pages.entries()) {
      const before = from === 0 ? [] : pages.get(page);
      if (before?.reduce((sum, { length }) => sum + length, 0) !== from) return null;
      pages.set(page, [...before, segment.pages[i] ?? Buffer.alloc(0)]);
    }
  }
  if (!(Number.isSafeInteger(last.forgotten) && last.forgotten >= 0)) return null;
  graph.restored(last.agents, last.forgotten, slotsOf(segments[0]));
  const { size } = graph.texts.paths;
  for (const { head } of segments) {
    const [paths = Buffer.alloc(0), ...columns] = head;
    const numbered = numbers(paths);
    if (numbered.some((path) => path >= size)) return null;
    state.columns.restore(numbered, columns);
  }
  state.texts.restore([...pages].map(([page, pieces]) => ({ page, bytes: joined(pieces) })));
  state.restored();
  restoreWords(parts, segments.findLast(({ words }) => words.length > 0)?.words ?? []);
  parts.head = last.head === null ? -1 : graph.commits.find(last.head);
  // Without a head there is nothing, and a head is one of the commits.
  if (parts.head < 0 && (last.head !== null || state.size > 0)) return null;
  if (parts.head >= 0) parts.log.append(parts.head);
  return parts;
}

/** @throws RangeError  a seed that is none */
function slotsOf(whole: Segment | undefined) {
  return (whole?.line.slots ?? []).map(([seed, size], i) => {
    if ((seed | 0) !== seed || !(Number.isSafeInteger(size) && size >= 0)) throw new RangeError("odd slots");
    return { seed, size, slots: whole?.slots[i] ?? new Uint8Array(0) };
  });
}

/** Words of files that have changed since are read again. */
function restoreWords({ texts, state, unread }: Parts, pieces: readonly Buffer[]): void {
  const [keys, versions, lengths, termEnds, listEnds, terms, lists] = pieces;
  if (keys && versions && lengths && termEnds && listEnds && terms && lists) {
    const kept = {
      keys: numbers(keys),
      versions: numbers(versions),
      lengths: numbers(lengths),
      termEnds: numbers(termEnds),
      listEnds: numbers(listEnds),
      terms,
      lists,
    };
    mustBeWords(kept);
    texts.restore(kept, (path, entry) => state.holds(path) && state.entryOf(path) === entry);
  }
  for (const path of state.paths()) if (!texts.has(path)) unread.add(path);
}

/** @throws RangeError  arrays that don't belong together */
function mustBeWords({ keys, versions, lengths, termEnds, listEnds, terms, lists }: FrozenArrays): void {
  mustBeLevel(keys.length, [versions, lengths]);
  mustBeLevel(termEnds.length, [listEnds]);
  mustRise(termEnds, terms.length);
  mustRise(listEnds, lists.length);
}

function mustRise(ends: Uint32Array, last: number): void {
  let before = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i] ?? 0;
    if (end < before) throw new RangeError("the words' lists don't follow one another");
    before = end;
  }
  if (before > last) throw new RangeError("the words' lists reach past their end");
}

const joined = (pieces: readonly Buffer[]) => {
  const [only, ...more] = pieces;
  return only !== undefined && more.length === 0 ? only : Buffer.concat(pieces);
};

/** @throws RangeError  a part of a number */
function numbers({ buffer, byteOffset, length }: Buffer): Uint32Array {
  if (length % 4 !== 0) throw new RangeError(`${length} bytes are no numbers`);
  return new Uint32Array(buffer, byteOffset, length / 4);
}
