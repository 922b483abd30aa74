/**
 * Several packs into one, entry by entry: compressed bytes are copied, distances of deltas to their bases are written
 * anew, and what our writer had no time to deflate is deflated. An object that several packs hold is kept once, where it comes first; so a kept
 * delta's base is always kept before it, and no cycle can arise. Synchronous: it runs in a thread of its own.
 * Invariant: every byte that is copied has the CRC that its idx names, and every object of every idx is in the new pack; that
 * the bytes are those of the id nobody looks at here, and whoever reads them does. One pack's damage is a `DamagedPack`.
 * Who may be merged is `choose-packs.ts`, what becomes of the old ones `replace-packs.ts`.
 * @see gitformat-pack(5)
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { DamagedPack, readingPack } from "./damaged-pack.ts";
import type { ObjectType } from "./object-id.ts";
import { deflateStored, distanceBytes, OFS_DELTA, wholeEntry } from "./pack-bytes.ts";
import { packFile } from "./pack-names.ts";
import { deltaBases, openPack, readDistance } from "./pack-reader.ts";
import { type ReadIdx, readIdx, unionOf } from "./read-idx.ts";
import { type EntrySink, type MergedPackFile, writeMergedPack } from "./write-merged.ts";

const CHECKSUM_BYTES = 20;
const REF_DELTA = 7;
/** Longer chains are cut: merging may join chains, and whoever reads the last link unpacks them all. */
const MAX_DEPTH = 200;

/**
 * Merge packs into an unfinished one, synced.
 *
 * @param names 40 hex digits each; earlier ones are copied first
 * @throws DamagedPack one of them; Node errors, ENOENT when a pack was removed meanwhile. Nothing is left behind then
 * @cost reads, checks and writes every byte once; memory: some mebibytes, and some 60 bytes an object
 */
export function mergePacks(gitdir: string, names: readonly string[]): MergedPackFile {
  const idxs = names.map((name) =>
    readingPack(name, () => readIdx(name, readFileSync(packFile(gitdir, name, "idx")))),
  );
  const union = unionOf(idxs);
  /** How long the delta chain below each kept object is. */
  const depth = new Uint16Array(union.count);
  return writeMergedPack(gitdir, union, (sink) => {
    for (const [number, idx] of idxs.entries())
      copyPack({ gitdir, idx, numbers: union.places[number] ?? new Uint32Array(), depth, sink });
  });
}

interface Copying {
  readonly gitdir: string;
  readonly idx: ReadIdx;
  /** Of each object, by its place in the idx, the number in the union. */
  readonly numbers: Uint32Array;
  readonly depth: Uint16Array;
  readonly sink: EntrySink;
}

/** What is read may be the pack's damage; what is written never is. */
function copyPack(copying: Copying): void {
  const { gitdir, idx, numbers, sink } = copying;
  const file = readingPack(idx.name, () => openSync(packFile(gitdir, idx.name, "pack"), "r"));
  try {
    const opened = readingPack(idx.name, () => open(copying, file));
    for (const [step, place] of opened.order.entries()) {
      const object = numbers[place] ?? 0;
      // The same object was copied from an earlier pack.
      if (sink.at(object) !== 0) continue;
      const { parts, crc } = readingPack(idx.name, () => entryAt(copying, opened, step));
      sink.add(object, parts, crc);
    }
  } finally {
    closeSync(file);
  }
}

interface Opened {
  readonly size: number;
  /** What is read holds until the next call. */
  readonly read: (from: number, to: number) => Buffer;
  /** Places in the idx and offsets in the pack, in the order in which the objects lie there. */
  readonly order: Uint32Array;
  readonly offsets: Float64Array;
}

function open({ idx }: Copying, file: number): Opened {
  const { size } = fstatSync(file);
  const read = inPieces(file);
  const damaged = (why: string) => new DamagedPack(idx.name, why);
  if (size < 32) throw damaged("it has no header");
  const header = read(0, 12);
  if (header.toString("latin1", 0, 4) !== "PACK") throw damaged("it has no header");
  if (header.readUInt32BE(8) !== idx.count) throw damaged("it holds another number of objects than its idx");
  const order = idx.byOffset();
  return { size, read, order, offsets: Float64Array.from(order, (place) => idx.offset(place)) };
}

const PIECE_BYTES = 1 << 20;

/** Reads a file from its start to its end, a piece at a time. Short where the file is. */
function inPieces(file: number): Opened["read"] {
  let piece = Buffer.alloc(0);
  let room = piece;
  let start = 0;
  return (from, to) => {
    if (from < start || to > start + piece.length) {
      const wanted = Math.max(PIECE_BYTES, to - from);
      if (room.length < wanted) room = Buffer.allocUnsafeSlow(wanted);
      let done = 0;
      for (let got = -1; got !== 0 && done < wanted; done += got)
        got = readSync(file, room, done, wanted - done, from + done);
      piece = room.subarray(0, done);
      start = from;
    }
    return piece.subarray(from - start, to - start);
  };
}

interface CopiedEntry {
  readonly parts: readonly Uint8Array[];
  /** Of the parts together, when it is known. */
  readonly crc?: number;
}

/** An object's entry as it will stand in the new pack. */
function entryAt(copying: Copying, { size, read, order, offsets }: Opened, step: number): CopiedEntry {
  const { idx, numbers, depth } = copying;
  const place = order[step] ?? 0;
  const object = numbers[place] ?? 0;
  const from = offsets[step] ?? 0;
  const entry = read(from, offsets[step + 1] ?? size - CHECKSUM_BYTES);
  const crc = idx.crc(place);
  if (crc32(entry) !== crc) throw new DamagedPack(idx.name, `the entry at ${from} has another checksum`);
  const type = ((entry[0] ?? 0) >> 4) & 7;
  if (type === OFS_DELTA) {
    const delta = deltaOf(entry);
    const base = placeIn(offsets, from - delta.distance);
    if (base < 0) throw new DamagedPack(idx.name, `the delta at ${from} has no base`);
    return deltaEntry(copying, { ...delta, place, object, base: numbers[order[base] ?? 0] ?? 0 });
  }
  // A base named by id lies in the same pack, so in the new one too. How deep it is nobody knows.
  depth[object] = type === REF_DELTA ? MAX_DEPTH / 2 : 0;
  return type === REF_DELTA ? { parts: [entry], crc } : wholeOf(entry, crc);
}

/** Our writer stores what is small undeflated. */
function wholeOf(entry: Buffer, crc: number): CopiedEntry {
  const at = headBytes(entry);
  const stream = entry.subarray(at);
  const smaller = deflateStored(stream);
  return smaller === stream ? { parts: [entry], crc } : { parts: [entry.subarray(0, at), smaller] };
}

function headBytes(entry: Buffer): number {
  let at = 0;
  while ((entry[at] ?? 0) & 0x80) at++;
  return at + 1;
}

interface Delta {
  /** Type and size, as they are. */
  readonly head: Buffer;
  readonly distance: number;
  readonly body: Buffer;
}

function deltaOf(entry: Buffer): Delta {
  let at = headBytes(entry);
  const head = entry.subarray(0, at);
  const distance = readDistance(() => entry[at++] ?? 0);
  return { head, distance, body: entry.subarray(at) };
}

interface PlacedDelta extends Delta {
  readonly place: number;
  readonly object: number;
  readonly base: number;
}

function deltaEntry(
  { gitdir, idx, depth, sink }: Copying,
  { head, body, place, object, base }: PlacedDelta,
): CopiedEntry {
  const links = (depth[base] ?? 0) + 1;
  if (links > MAX_DEPTH) return { parts: [readWhole(gitdir, idx, place)] };
  depth[object] = links;
  return { parts: [head, Buffer.from(distanceBytes(sink.offset - sink.at(base))), body] };
}

/** Where a value stands in a sorted list, or -1. */
function placeIn(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value ? low : -1;
}

function readWhole(gitdir: string, idx: ReadIdx, place: number): Buffer {
  const reader = openPack(packFile(gitdir, idx.name, "pack").replace(/\.pack$/, ""), deltaBases(1 << 20));
  try {
    const found = reader.read(Buffer.from(idx.id(place), "hex"));
    if (found === undefined) throw new DamagedPack(idx.name, "an object is not where its idx says");
    // What a delta makes is one of the types that the entry of a whole object can have.
    return wholeEntry(found.type as ObjectType, found.bytes);
  } finally {
    reader.close();
  }
}
