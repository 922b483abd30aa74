/**
 * The index as bytes, for a warm start: one whole segment, then segments with what came after it. A segment is a
 * line of JSON that names format, fingerprint, head and sizes, the columns' rows as the machine holds them, and a
 * checksum. Disposable: whatever isn't exactly ours is refused and the caller rebuilds; a tail that was not
 * written to its end counts for nothing. Invariant: restored, it answers every question as the index that wrote
 * it, and folds on from there.
 */
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { mustBeLevel } from "../lib/held/column.ts";
import type { CommitRecord } from "./entry.ts";
import { emptyParts, type Parts } from "./parts.ts";
import type { FrozenArrays } from "./search/frozen-words.ts";

const MAGIC = "notesd-index";
const FORMAT = 4;
const CHUNK_BYTES = 1 << 20;
/** Eight hexadecimal digits. */
const CHECKSUM_BYTES = 8;

type Agent = NonNullable<CommitRecord["agent"]>;
type PageRange = readonly [page: number, from: number, to: number];

interface Line {
  readonly magic: string;
  readonly format: number;
  /** What parsing depends on, and how this machine holds numbers. */
  readonly reading: string;
  readonly whole: boolean;
  readonly head: string | null;
  /** Rows of each column of the graph that the segment brings. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  readonly agents: readonly Agent[];
  /** Bytes: numbers of the paths whose row at the head is here, then each column's. */
  readonly paths: readonly number[];
  readonly pages: readonly PageRange[];
  /** Bytes of the arrays of words, in the order of `WORDS`; none: they are as they were. */
  readonly words: readonly number[];
  readonly bytes: number;
}

const WORDS = [
  "keys",
  "versions",
  "lengths",
  "termEnds",
  "listEnds",
  "terms",
  "lists",
] as const satisfies readonly (keyof FrozenArrays)[];

/** Up to where a file holds an index. */
export interface Mark {
  readonly graph: Parts["graph"];
  readonly rows: readonly number[];
  /** By page: which one it was, and how much of it. */
  readonly pages: ReadonlyMap<number, { readonly serial: number; readonly length: number }>;
  readonly words: FrozenArrays | null;
}

/** The file that an index was restored from. */
export interface Origin {
  readonly mark: Mark;
  /** How far the file was read: what follows counts for nothing. */
  readonly bytes: number;
  /** How much of it the first segment takes. */
  readonly wholeBytes: number;
}

export interface Snapshot {
  /** Whether the segment stands alone; else it follows on what the mark says. */
  readonly whole: boolean;
  /** The segment, in pieces ≤ 1 MiB. Memory of the index, not copies: they stay as they are, also when it moves on. */
  readonly pieces: () => Generator<Uint8Array>;
  /** What the file holds once this is written. */
  readonly mark: Mark;
}

/**
 * Take what is new since a mark.
 * @param after  null, or of another state: everything
 * @cost nothing is copied but the head's rows; the checksum is made while `pieces` is read
 */
export function takeSnapshot(parts: Parts, fingerprint: string, after: Mark | null): Snapshot {
  const { graph, state } = parts;
  const changed = state.takeChanged();
  const since = changed && after?.graph === graph ? after : null;
  const paths = since && changed ? changed : Uint32Array.from(state.paths());
  const held = state.texts.pages();
  const rows = graph.rows.map((column, i) => [since?.rows[i] ?? 0, column.length] as const);
  const head = [asBytes(paths), ...state.columns.copy(paths)];
  const pages = held.flatMap(({ page, serial, bytes }) => {
    const known = since?.pages.get(page);
    const from = known?.serial === serial ? known.length : 0;
    return from < bytes.length
      ? [{ range: [page, from, bytes.length] as const, bytes: bytes.subarray(from) }]
      : [];
  });
  const { kept } = parts.texts;
  const words = kept === null || kept === since?.words ? [] : WORDS.map((name) => asBytes(kept[name]));
  const payload = [
    ...graph.rows.map((column, i) => column.bytes(...(rows[i] ?? [0, 0]))),
    ...head,
    ...pages.map(({ bytes }) => bytes),
    ...words,
  ];
  const line: Line = {
    magic: MAGIC,
    format: FORMAT,
    reading: readingOf(fingerprint),
    whole: since === null,
    head: parts.head < 0 ? null : graph.commits.idOf(parts.head),
    rows,
    agents: graph.commits.agents,
    paths: head.map((bytes) => bytes.length),
    pages: pages.map(({ range }) => range),
    words: words.map((bytes) => bytes.length),
    bytes: payload.reduce((sum, bytes) => sum + bytes.length, 0),
  };
  return {
    whole: line.whole,
    pieces: () => sealed([Buffer.from(`${JSON.stringify(line)}\n`), ...payload]),
    mark: markOf(parts),
  };
}

function markOf({ graph, state, texts }: Parts): Mark {
  const pages = state.texts
    .pages()
    .map(({ page, serial, bytes }) => [page, { serial, length: bytes.length }] as const);
  return {
    graph,
    rows: graph.rows.map((column) => column.length),
    pages: new Map(pages),
    words: texts.kept,
  };
}

function* sealed(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let sum = 0;
  for (const bytes of pieces) {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const piece = bytes.subarray(from, from + CHUNK_BYTES);
      sum = crc32(piece, sum);
      yield piece;
    }
  }
  yield Buffer.from(checksum(sum));
}

const checksum = (sum: number) => sum.toString(16).padStart(CHECKSUM_BYTES, "0");
const readingOf = (fingerprint: string) => `${endianness()} ${fingerprint}`;
const asBytes = ({ buffer, byteOffset, byteLength }: Uint32Array | Uint8Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

interface Segment {
  readonly line: Line;
  readonly payload: Buffer;
  /** Bytes from its first to its last. */
  readonly size: number;
}

/**
 * Read a checkpoint back, without any blob.
 * @returns null for bytes of another format, fingerprint or program, or damaged in the first segment: rebuild
 *   then; else the index as of the last segment that is whole
 * @cost one pass over the bytes; the words of the notes are indexed afterwards
 */
export function readCheckpoint(
  bytes: Uint8Array,
  fingerprint: string,
): { readonly parts: Parts; readonly origin: Origin } | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const segments: Segment[] = [];
  let read = 0;
  while (read < buffer.length) {
    const segment = segmentAt(buffer, read, fingerprint);
    if (segment === null || segment.line.whole !== (segments.length === 0)) break;
    segments.push(segment);
    read += segment.size;
  }
  const last = segments.at(-1);
  const parts = last === undefined ? null : restoredParts(segments, last.line);
  return parts && { parts, origin: { mark: markOf(parts), bytes: read, wholeBytes: segments[0]?.size ?? 0 } };
}

function segmentAt(buffer: Buffer, from: number, fingerprint: string): Segment | null {
  const end = buffer.indexOf("\n", from);
  if (end < 0 || !buffer.subarray(from, from + LINE_START.length).equals(LINE_START)) return null;
  const line = lineOf(buffer.toString("utf8", from, end));
  if (line?.format !== FORMAT || line.reading !== readingOf(fingerprint)) return null;
  if (!(Number.isSafeInteger(line.bytes) && line.bytes >= 0)) return null;
  const stop = end + 1 + line.bytes;
  const found = buffer.toString("latin1", stop, stop + CHECKSUM_BYTES);
  if (found !== checksum(crc32(buffer.subarray(from, stop)))) return null;
  return { line, payload: buffer.subarray(end + 1, stop), size: stop + CHECKSUM_BYTES - from };
}

const LINE_START = Buffer.from(`{"magic":"${MAGIC}","format":`);

function lineOf(text: string): Line | null {
  try {
    // Believed only once the checksum holds.
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

/** Null where a checksum holds over what no index wrote. */
function restoredParts(segments: readonly Segment[], last: Line): Parts | null {
  try {
    return partsOf(segments, last);
  } catch (error) {
    // Trigger: numbers that lead nowhere, members that are missing. Outcome: rebuilt, as for a damaged file.
    if (error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError)
      return null;
    throw error;
  }
}

function partsOf(segments: readonly Segment[], last: Line): Parts | null {
  const parts = emptyParts();
  const { graph, state } = parts;
  const heads: { readonly paths: Uint32Array; readonly columns: readonly Buffer[] }[] = [];
  const pages = new Map<number, Buffer[]>();
  let words: readonly Buffer[] = [];
  for (const { line, payload } of segments) {
    let at = 0;
    const take = (length: number) => {
      if (!(Number.isSafeInteger(length) && length >= 0 && length <= payload.length - at))
        throw new RangeError(`no ${length} bytes are left`);
      at += length;
      return payload.subarray(at - length, at);
    };
    for (const [i, column] of graph.rows.entries()) {
      const [from, to] = line.rows[i] ?? [0, 0];
      if (from !== column.length) return null;
      column.append(take(column.size * (to - from)));
    }
    const [paths = Buffer.alloc(0), ...columns] = line.paths.map(take);
    heads.push({ paths: numbers(paths), columns });
    for (const [page, from, to] of line.pages) {
      const bytes = take(to - from);
      const before = from === 0 ? [] : pages.get(page);
      if (before?.reduce((sum, { length }) => sum + length, 0) !== from) return null;
      pages.set(page, [...before, bytes]);
    }
    if (line.words.length > 0) words = line.words.map(take);
    if (at !== payload.length) return null;
  }
  graph.restored(last.agents);
  const { size } = graph.texts.paths;
  for (const { paths, columns } of heads) {
    if (paths.some((path) => path >= size)) return null;
    state.columns.restore(paths, columns);
  }
  state.texts.restore([...pages].map(([page, pieces]) => ({ page, bytes: Buffer.concat(pieces) })));
  state.restored();
  restoreWords(parts, words);
  parts.head = last.head === null ? -1 : graph.commits.find(last.head);
  // Without a head there is nothing, and a head is one of the commits.
  if (parts.head < 0 && (last.head !== null || state.size > 0)) return null;
  if (parts.head >= 0) parts.log.append(parts.head);
  return parts;
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
      terms: Buffer.from(copied(terms)),
      lists: Buffer.from(copied(lists)),
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
  const rises = (ends: Uint32Array, last: number) =>
    (ends.at(-1) ?? 0) <= last && ends.every((end, i) => end >= (ends[i - 1] ?? 0));
  if (!rises(termEnds, terms.length) || !rises(listEnds, lists.length))
    throw new RangeError("the words' lists reach past their end");
}

/** In an array buffer of its own, so that the file's bytes can go. */
const copied = (bytes: Uint8Array) => Uint8Array.from(bytes).buffer;
const numbers = (bytes: Uint8Array) => new Uint32Array(copied(bytes));
