/**
 * Reads single objects from a pack by its idx (version 2), synchronously and without loading the pack:
 * isomorphic-git hashes the whole pack first and takes half a millisecond an object, and trees are patched
 * where nothing may be awaited. Checking the id against the bytes is `objects.ts`.
 * @see gitformat-pack(5)
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { type ByteCache, byteCache } from "../../lib/byte-cache.ts";
import type { ObjectId } from "./object-id.ts";
import { OFS_DELTA } from "./pack-bytes.ts";

export interface RawObject {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface PackReader {
  /** Path without ending. */
  readonly path: string;
  has(id: ObjectId): boolean;
  /** Undefined when the pack doesn't hold it. @throws Error when the pack is damaged or gone */
  read(id: ObjectId): RawObject | undefined;
  /** Full ids that begin with these hex digits (≥ 2). */
  idsStarting(prefix: string): ObjectId[];
  close(): void;
}

type DeltaBases = ByteCache<string, RawObject>;
/** Unpacked bases of deltas, shared by all packs of a repository. */
export const deltaBases = (maxBytes = 16 << 20): DeltaBases => byteCache(maxBytes);

const TYPES: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const REF_DELTA = 7;
const WINDOW_BYTES = 32 << 10;
/** A pack over this keeps its file open; smaller ones are many and are opened for each read. */
const KEEP_OPEN_BYTES = 1 << 20;

interface Idx {
  readonly count: number;
  /** Position of an id among the sorted ids, or -1. */
  find(id: Buffer): number;
  id(index: number): ObjectId;
  offset(index: number): number;
  /** First position whose id is not below these bytes. */
  lowerBound(id: Buffer): number;
}

function openIdx(file: string): Idx {
  const idx = readFileSync(file);
  if (idx.length < 1072 || idx.readUInt32BE(0) !== 0xff744f63 || idx.readUInt32BE(4) !== 2)
    throw new Error(`${file} is not a version 2 pack index; run git repack -ad with pack.indexVersion unset`);
  const count = idx.readUInt32BE(8 + 255 * 4);
  const offsets = 1032 + count * 24;
  if (idx.length < offsets + count * 4 + 40) throw new Error(`${file} is cut short`);
  const lowerBound = (id: Buffer) => {
    const first = id[0] ?? 0;
    let low = first === 0 ? 0 : idx.readUInt32BE(8 + (first - 1) * 4);
    let high = idx.readUInt32BE(8 + first * 4);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = 1032 + middle * 20;
      if (idx.compare(id, 0, id.length, at, at + id.length) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    count,
    lowerBound,
    find(id) {
      const index = lowerBound(id);
      const at = 1032 + index * 20;
      return index < count && idx.compare(id, 0, 20, at, at + 20) === 0 ? index : -1;
    },
    id: (index) => idx.toString("hex", 1032 + index * 20, 1052 + index * 20),
    offset(index) {
      const small = idx.readUInt32BE(offsets + index * 4);
      if (small < 0x80000000) return small;
      return Number(idx.readBigUInt64BE(offsets + count * 4 + (small - 0x80000000) * 8));
    },
  };
}

/** Reads ranges of one file through a small window. What `range` returns holds until the next call. */
function fileRanges(file: string) {
  let kept: { readonly fd: number; readonly size: number } | null = null;
  let window = Buffer.alloc(0);
  let windowAt = 0;
  let room = Buffer.alloc(0);

  const fill = (fd: number, size: number, wanted: number, length: number) => {
    // Some before it too: who walks history reads a pack backwards.
    const at = length >= WINDOW_BYTES ? wanted : Math.max(0, wanted - ((WINDOW_BYTES - length) >>> 1));
    const needed = Math.max(0, Math.min(Math.max(length, WINDOW_BYTES), size - at));
    if (room.length < needed || room.length > needed + WINDOW_BYTES) room = Buffer.allocUnsafe(needed);
    let done = 0;
    for (;;) {
      const got = readSync(fd, room, done, needed - done, at + done);
      done += got;
      if (got === 0 || done === needed) break;
    }
    window = room.subarray(0, done);
    windowAt = at;
  };
  const load = (wanted: number, length: number) => {
    if (kept !== null) {
      fill(kept.fd, kept.size, wanted, length);
      return;
    }
    const fd = openSync(file, "r");
    try {
      const { size } = fstatSync(fd);
      fill(fd, size, wanted, length);
      if (size > KEEP_OPEN_BYTES) kept = { fd, size };
    } finally {
      if (kept === null) closeSync(fd);
    }
  };
  return {
    /** Up to `length` bytes from `at`; fewer only at the end of the file. */
    range(at: number, length: number): Buffer {
      if (at < windowAt || at + length > windowAt + window.length) load(at, length);
      return window.subarray(at - windowAt, at - windowAt + length);
    },
    close() {
      if (kept !== null) closeSync(kept.fd);
      kept = null;
      window = Buffer.alloc(0);
      windowAt = 0;
    },
  };
}

/** Apply a Git delta. @throws Error when it doesn't fit its base */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const next = () => {
    const byte = delta[at++];
    if (byte === undefined) throw new Error("a delta is cut short");
    return byte;
  };
  const size = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = next();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  if (size() !== base.length) throw new Error("a delta doesn't fit its base");
  const out = Buffer.allocUnsafe(size());
  let filled = 0;
  while (at < delta.length) {
    const op = next();
    if (op === 0) throw new Error("a delta holds a reserved instruction");
    const from = { source: delta, at, length: op };
    if (op & 128) {
      let offset = 0;
      let length = 0;
      for (let bit = 0; bit < 4; bit++) if (op & (1 << bit)) offset += next() * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit++) if (op & (16 << bit)) length += next() * 2 ** (8 * bit);
      Object.assign(from, { source: base, at: offset, length: length || 0x10000 });
    } else at += op;
    if (from.at + from.length > from.source.length || filled + from.length > out.length)
      throw new Error("a delta reaches outside its base");
    filled += from.source.copy(out, filled, from.at, from.at + from.length);
  }
  if (filled !== out.length) throw new Error("a delta made too few bytes");
  return out;
}

/** @param path without ending; both files must exist */
export function openPack(path: string, bases: DeltaBases): PackReader {
  const idx = openIdx(`${path}.idx`);
  const file = fileRanges(`${path}.pack`);

  const inflate = (at: number, size: number) => {
    const bound = size + (size >>> 8) + 64;
    const bytes = inflateSync(file.range(at, bound), {
      // The default chunk of 16 KiB costs more than inflating a small object.
      chunkSize: Math.max(size, 64),
      maxOutputLength: Math.max(size, 1),
    });
    if (bytes.length !== size) throw new Error("an object has not the size that its header says");
    return bytes;
  };

  const at = (offset: number): RawObject => {
    const head = file.range(offset, 64);
    let used = 0;
    const next = () => {
      const byte = head[used++];
      if (byte === undefined) throw new Error("the pack is cut short");
      return byte;
    };
    let byte = next();
    const kind = (byte >> 4) & 7;
    let size = byte & 15;
    for (let scale = 16; byte & 128; scale *= 128) {
      byte = next();
      size += (byte & 127) * scale;
    }
    const type = TYPES[kind];
    if (type !== undefined) return { type, bytes: inflate(offset + used, size) };
    const baseAt = kind === OFS_DELTA ? offset - readDistance(next) : offsetOfBase(kind, head, used);
    if (kind === REF_DELTA) used += 20;
    const base = baseOf(baseAt);
    return { type: base.type, bytes: applyDelta(base.bytes, inflate(offset + used, size)) };
  };

  /** Neighbours in history are deltas of one another: what is a base once will be again. */
  const baseOf = (offset: number): RawObject => {
    const key = `${path}:${offset}`;
    const known = bases.get(key);
    if (known !== undefined) return known;
    const found = at(offset);
    bases.set(key, found, found.bytes.length + 200);
    return found;
  };

  const offsetOfBase = (kind: number, head: Buffer, used: number): number => {
    if (kind !== REF_DELTA) throw new Error(`the pack holds an object of unknown kind ${kind}`);
    const index = idx.find(head.subarray(used, used + 20));
    if (index < 0) throw new Error("the base of a delta is missing");
    return idx.offset(index);
  };

  return {
    path,
    has: (id) => idx.find(Buffer.from(id, "hex")) >= 0,
    read(id) {
      const index = idx.find(Buffer.from(id, "hex"));
      return index < 0 ? undefined : at(idx.offset(index));
    },
    idsStarting(prefix) {
      const start = Buffer.from(prefix.padEnd(40, "0"), "hex");
      const found: ObjectId[] = [];
      for (let index = idx.lowerBound(start); index < idx.count; index++) {
        const id = idx.id(index);
        if (!id.startsWith(prefix)) break;
        found.push(id);
      }
      return found;
    },
    close: file.close,
  };
}

/** The distance that `distanceBytes` wrote. */
export function readDistance(next: () => number): number {
  let byte = next();
  let value = byte & 127;
  while (byte & 128) {
    byte = next();
    value = (value + 1) * 128 + (byte & 127);
  }
  return value;
}
