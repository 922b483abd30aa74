/**
 * The index as bytes, for a warm start: one whole segment, then segments with what came after it. A segment is a
 * line of JSON that names format, fingerprint, head and sizes, the columns' rows as the machine holds them, and a
 * checksum. Read back in `read-checkpoint.ts`. Invariant: what was taken stays what it was.
 */
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import type { CommitRecord } from "./entry.ts";
import type { Parts } from "./parts.ts";
import type { FrozenArrays } from "./search/frozen-words.ts";

export const MAGIC = "notesd-index";
export const FORMAT = 7;
const CHUNK_BYTES = 1 << 20;
/** Eight hexadecimal digits. */
export const CHECKSUM_BYTES = 8;

type Agent = NonNullable<CommitRecord["agent"]>;
type PageRange = readonly [page: number, from: number, to: number];

/** What a segment says of itself. */
export interface Line {
  readonly magic: string;
  readonly format: number;
  /** What parsing depends on, and how this machine holds numbers. */
  readonly reading: string;
  readonly whole: boolean;
  readonly head: string | null;
  /** Rows of each column of the graph that the segment brings. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  readonly agents: readonly Agent[];
  /** Requests that were let go of before those in the rows. */
  readonly forgotten: number;
  /** Bytes: numbers of the paths whose row at the head is here, then each column's. */
  readonly paths: readonly number[];
  readonly pages: readonly PageRange[];
  /** Bytes of the arrays of words, in the order of `WORDS`; none: they are as they were. */
  readonly words: readonly number[];
  /** What finds texts and commits, behind the words: a whole segment brings it, so that nothing is hashed again. */
  readonly slots: readonly (readonly [seed: number, size: number, bytes: number])[];
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
  /** Requests let go of: with others the rows are others too. */
  readonly forgotten: number;
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
 * @cost nothing is copied but the head's rows and, for a whole one, what finds texts and commits; the checksum is made while `pieces` is read
 */
export function takeSnapshot(parts: Parts, fingerprint: string, after: Mark | null): Snapshot {
  const { graph, state } = parts;
  const changed = state.takeChanged();
  const follows = after?.graph === graph && after.forgotten === graph.requests.first;
  const since = changed && follows ? after : null;
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
  const slots = since === null ? graph.slots : [];
  const payload = [
    ...graph.rows.map((column, i) => column.bytes(...(rows[i] ?? [0, 0]))),
    ...head,
    ...pages.map(({ bytes }) => bytes),
    ...words,
    ...slots.map(({ slots }) => slots),
  ];
  const line: Line = {
    magic: MAGIC,
    format: FORMAT,
    reading: readingOf(fingerprint),
    whole: since === null,
    head: parts.head < 0 ? null : graph.commits.idOf(parts.head),
    rows,
    agents: graph.commits.agents,
    forgotten: graph.requests.first,
    paths: head.map((bytes) => bytes.length),
    pages: pages.map(({ range }) => range),
    words: words.map((bytes) => bytes.length),
    slots: slots.map(({ seed, size, slots: bytes }) => [seed, size, bytes.length]),
    bytes: payload.reduce((sum, bytes) => sum + bytes.length, 0),
  };
  return {
    whole: line.whole,
    pieces: () => sealed([Buffer.from(`${JSON.stringify(line)}\n`), ...payload]),
    mark: markOf(parts),
  };
}

/** What a file holds that these parts were read from, or written to. */
export function markOf({ graph, state, texts }: Parts): Mark {
  const pages = state.texts
    .pages()
    .map(({ page, serial, bytes }) => [page, { serial, length: bytes.length }] as const);
  return {
    graph,
    rows: graph.rows.map((column) => column.length),
    forgotten: graph.requests.first,
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

export const checksum = (sum: number) => sum.toString(16).padStart(CHECKSUM_BYTES, "0");
export const readingOf = (fingerprint: string) => `${endianness()} ${fingerprint}`;
const asBytes = ({ buffer, byteOffset, byteLength }: Uint32Array | Uint8Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);
