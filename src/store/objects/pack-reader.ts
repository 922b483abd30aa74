/**
 * Reads single objects from a pack by its idx (version 2), synchronously and without loading the pack:
 * isomorphic-git hashes the whole pack first and takes half a millisecond an object, and trees are patched
 * where nothing may be awaited. Checking the id against the bytes is `objects.ts`.
 * @see gitformat-pack(5)
 */
import { inflateSync } from "node:zlib";
import { type GenerationCache, generationCache } from "../../lib/generation-cache.ts";
import { applyDelta } from "./apply-delta.ts";
import { fileRanges } from "./file-ranges.ts";
import { openIdx } from "./find-in-idx.ts";
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

/** That of a pack of some 24 MiB: there are few larger ones, however long the history. */
const IDX_HELD_BYTES = 1 << 20;

/**
 * @param path without ending; both files must exist
 * @param idxHeldBytes a larger idx is not held but read where a search goes; for who reads all of a history it is better held
 */
export function openPack(path: string, bases: DeltaBases, idxHeldBytes = IDX_HELD_BYTES): PackReader {
  const idx = openIdx(`${path}.idx`, idxHeldBytes);
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
    close() {
      idx.close();
      file.close();
    },
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
