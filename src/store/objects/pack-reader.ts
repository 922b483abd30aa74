/**
 * Reads single objects from a pack by its idx (version 2), synchronously and without loading the pack:
 * isomorphic-git hashes the whole pack first and takes half a millisecond an object, and trees are patched
 * where nothing may be awaited. Checking the id against the bytes is `objects.ts`.
 * @see gitformat-pack(5)
 */
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { type GenerationCache, generationCache } from "../../lib/generation-cache.ts";
import { applyDelta } from "./apply-delta.ts";
import { fileRanges } from "./file-ranges.ts";
import type { ObjectId } from "./object-id.ts";
import { OFS_DELTA } from "./pack-bytes.ts";
import { inflateSmall } from "./small-inflate.ts";

export interface RawObject {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface PackReader {
  /** Path without ending. */
  readonly path: string;
  /**
   * Undefined when the pack doesn't hold it.
   * @param id  20 bytes
   * @throws Error when the pack is damaged or gone
   */
  read(id: Buffer): RawObject | undefined;
  /** Full ids that begin with these hex digits (≥ 2). */
  idsStarting(prefix: string): ObjectId[];
  close(): void;
}

/** By where they lie: place in the pack, and which pack. */
type DeltaBases = GenerationCache<number, RawObject>;
/** Unpacked bases of deltas, shared by all packs of a repository. */
export const deltaBases = (maxBytes = 16 << 20): DeltaBases =>
  generationCache(maxBytes, ({ bytes }) => bytes.length + OBJECT_OVERHEAD_BYTES);
const OBJECT_OVERHEAD_BYTES = 200;
/** Packs are numbered as they are opened; offsets stay below this (a pack over 1 TiB is nobody's notes). */
const PACK_SPAN = 2 ** 40;
let packsOpened = 0;

const TYPES: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const REF_DELTA = 7;
/**
 * Room for trees, which come and go by the thousand: cut from larger pieces, since memory of its own costs a tree
 * more than making it. A piece is freed with the last tree in it, so nothing that stays for long is put there.
 */
function treeRoom(bytes: number): Buffer {
  if (bytes > PIECE_BYTES / 8) return Buffer.allocUnsafe(bytes);
  if (pieceUsed + bytes > piece.length) {
    piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
    pieceUsed = 0;
  }
  pieceUsed += bytes;
  return piece.subarray(pieceUsed - bytes, pieceUsed);
}
const PIECE_BYTES = 256 << 10;
let piece = Buffer.alloc(0);
let pieceUsed = 0;

interface Idx {
  readonly count: number;
  /** Position of an id among the sorted ids, or -1. */
  find(id: Buffer): number;
  id(index: number): ObjectId;
  offset(index: number): number;
  /** First position whose id's first four bytes, as a number, are not below this. */
  lowerBound(head: number): number;
}

function openIdx(file: string): Idx {
  const idx = readFileSync(file);
  if (idx.length < 1072 || idx.readUInt32BE(0) !== 0xff744f63 || idx.readUInt32BE(4) !== 2)
    throw new Error(`${file} is not a version 2 pack index; run git repack -ad with pack.indexVersion unset`);
  const count = idx.readUInt32BE(8 + 255 * 4);
  const offsets = 1032 + count * 24;
  if (idx.length < offsets + count * 4 + 40) throw new Error(`${file} is cut short`);
  const fanOut = Uint32Array.from({ length: 257 }, (_, byte) =>
    byte === 0 ? 0 : idx.readUInt32BE(8 + (byte - 1) * 4),
  );
  const numberAt = (index: number) => idx.readUInt32BE(1032 + index * 20);
  /**
   * First position whose first four bytes are not below these. Ids are spread evenly, so the search begins near
   * where they should lie.
   */
  const lowerBound = (head: number) => {
    const first = head >>> 24;
    let low = fanOut[first] ?? 0;
    let high = fanOut[first + 1] ?? 0;
    let guess = low + Math.floor(((head & 0xffffff) / 0x1000000) * (high - low));
    for (let step = 8; guess < high; guess += step, step *= 2) {
      if (numberAt(guess) < head) low = guess + 1;
      else high = guess;
    }
    guess = high - 8;
    for (let step = 8; guess >= low; guess -= step, step *= 2) {
      if (numberAt(guess) < head) low = guess + 1;
      else high = guess;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberAt(middle) < head) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    count,
    lowerBound,
    find(id) {
      const head = id.readUInt32BE(0);
      for (let index = lowerBound(head); index < count && numberAt(index) === head; index++) {
        const at = 1032 + index * 20;
        if (idx.compare(id, 0, 20, at, at + 20) === 0) return index;
      }
      return -1;
    },
    id: (index) => idx.toString("hex", 1032 + index * 20, 1052 + index * 20),
    offset(index) {
      const small = idx.readUInt32BE(offsets + index * 4);
      if (small < 0x80000000) return small;
      return Number(idx.readBigUInt64BE(offsets + count * 4 + (small - 0x80000000) * 8));
    },
  };
}

/** @param path without ending; both files must exist */
export function openPack(path: string, bases: DeltaBases): PackReader {
  const idx = openIdx(`${path}.idx`);
  const file = fileRanges(`${path}.pack`);

  const firstKey = packsOpened++ * PACK_SPAN;

  const inflate = (at: number, size: number) => {
    const bound = size + (size >>> 8) + 64;
    const source = file.range(at, bound);
    const small = inflateSmall(source, size);
    if (small !== null) return small;
    const bytes = inflateSync(source, {
      // The default chunk of 16 KiB costs more than inflating a small object.
      chunkSize: Math.max(size, 64),
      maxOutputLength: Math.max(size, 1),
    });
    if (bytes.length !== size) throw new Error("an object has not the size that its header says");
    return bytes;
  };

  /** Neighbours in history are deltas of one another: trees are kept, what is a base once will be again. */
  const keep = (offset: number, found: RawObject): RawObject => {
    bases.set(firstKey + offset, found);
    return found;
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
    if (type !== undefined) {
      const whole = { type, bytes: inflate(offset + used, size) };
      return type === "tree" ? keep(offset, whole) : whole;
    }
    const baseAt = kind === OFS_DELTA ? offset - readDistance(next) : offsetOfBase(kind, head, used);
    if (kind === REF_DELTA) used += 20;
    const base = baseOf(baseAt);
    const isTree = base.type === "tree";
    const made = {
      type: base.type,
      bytes: applyDelta(base.bytes, inflate(offset + used, size), isTree ? treeRoom : Buffer.allocUnsafe),
    };
    return isTree ? keep(offset, made) : made;
  };

  const baseOf = (offset: number): RawObject => bases.get(firstKey + offset) ?? keep(offset, at(offset));

  const offsetOfBase = (kind: number, head: Buffer, used: number): number => {
    if (kind !== REF_DELTA) throw new Error(`the pack holds an object of unknown kind ${kind}`);
    const index = idx.find(head.subarray(used, used + 20));
    if (index < 0) throw new Error("the base of a delta is missing");
    return idx.offset(index);
  };

  return {
    path,
    read(id) {
      const index = idx.find(id);
      if (index < 0) return undefined;
      const offset = idx.offset(index);
      return bases.get(firstKey + offset) ?? at(offset);
    },
    idsStarting(prefix) {
      const start = prefix.padEnd(8, "0").slice(0, 8);
      const found: ObjectId[] = [];
      for (let index = idx.lowerBound(Number.parseInt(start, 16)); index < idx.count; index++) {
        const id = idx.id(index);
        if (id.startsWith(prefix)) found.push(id);
        else if (id > prefix) break;
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
