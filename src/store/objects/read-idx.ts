/**
 * An idx (version 2) as upkeep reads it: all of it, by place; and the union of several, each object once. Finding single objects
 * is `pack-reader.ts`.
 * @see gitformat-pack(5)
 */
import { hash } from "node:crypto";
import { DamagedPack } from "./damaged-pack.ts";
import type { ObjectId } from "./object-id.ts";

export interface ReadIdx {
  /** Of the pack, 40 hex digits. */
  readonly name: string;
  readonly count: number;
  /** Ids, 20 bytes each, sorted. */
  readonly ids: Buffer;
  id(place: number): ObjectId;
  crc(place: number): number;
  /** Below 2 GiB; meaningless for an object that lies beyond. */
  offset(place: number): number;
  /**
   * Places in the order in which their objects lie in the pack.
   * @throws Error a pack over 2 GiB or of over 4 million objects
   */
  byOffset(): Uint32Array;
}

/** Before the ids: magic, version, fanout. */
export const IDX_HEADER_BYTES = 1032;
const ID_BYTES = 20;
/** Places fit below this, offsets above it: both are exact in one number. */
const PLACES = 2 ** 22;
const MOST_OFFSET = 2 ** 31;

/**
 * @throws Error when it is no idx of version 2, or not whole
 * @cost hashes it: what follows believes every id in it
 */
export function readIdx(name: string, idx: Buffer): ReadIdx {
  const count = idx.length < 1072 ? 0 : idx.readUInt32BE(8 + 255 * 4);
  // After the offsets come those of objects beyond 2 GiB.
  const shortest = IDX_HEADER_BYTES + count * 28 + 40;
  if (idx.length < shortest || idx.readUInt32BE(0) !== 0xff744f63 || idx.readUInt32BE(4) !== 2)
    throw new Error(`pack-${name}.idx is not an index of version 2`);
  if (!hash("sha1", idx.subarray(0, -ID_BYTES), "buffer").equals(idx.subarray(-ID_BYTES)))
    throw new Error(`pack-${name}.idx has another checksum`);
  const crcs = IDX_HEADER_BYTES + count * ID_BYTES;
  const offsets = crcs + count * 4;
  return {
    name,
    count,
    ids: idx.subarray(IDX_HEADER_BYTES, crcs),
    id: (place) =>
      idx.toString("hex", IDX_HEADER_BYTES + place * ID_BYTES, IDX_HEADER_BYTES + (place + 1) * ID_BYTES),
    crc: (place) => idx.readUInt32BE(crcs + place * 4),
    offset: (place) => idx.readUInt32BE(offsets + place * 4),
    byOffset() {
      if (count >= PLACES) throw new Error(`pack-${name}.idx holds too many objects to be merged`);
      const keys = new Float64Array(count);
      for (let place = 0; place < count; place++) {
        const offset = idx.readUInt32BE(offsets + place * 4);
        if (offset >= MOST_OFFSET) throw new Error(`pack-${name} is too large to be merged`);
        keys[place] = offset * PLACES + place;
      }
      return Uint32Array.from(keys.sort(), (key) => key % PLACES);
    },
  };
}

export interface IdxUnion {
  /** Objects, each once. */
  readonly count: number;
  /** Ids sorted, 20 bytes each; an object's number is its place here. */
  readonly ids: Buffer;
  /** For each idx, of each of its objects the number. */
  readonly places: readonly Uint32Array[];
}

/** @throws DamagedPack one whose ids are not sorted @cost compares each id some log2(objects / 256) times; 24 bytes an object */
export function unionOf(idxs: readonly ReadIdx[]): IdxUnion {
  const total = idxs.reduce((sum, { count }) => sum + count, 0);
  const ids = Buffer.alloc(total * ID_BYTES);
  const places = idxs.map(({ count }) => new Uint32Array(count));
  const next = new Uint32Array(idxs.length);
  let count = 0;
  for (let byte = 0; byte < 256; byte++) {
    const here: { readonly idx: number; readonly place: number; readonly id: Buffer }[] = [];
    for (const [number, idx] of idxs.entries()) {
      for (let place = next[number] ?? 0; place < idx.count && idx.ids[place * ID_BYTES] === byte; place++) {
        here.push({ idx: number, place, id: idx.ids.subarray(place * ID_BYTES, (place + 1) * ID_BYTES) });
        next[number] = place + 1;
      }
    }
    here.sort((a, b) => Buffer.compare(a.id, b.id));
    let last: Buffer | null = null;
    for (const { idx, place, id } of here) {
      if (last === null || !id.equals(last)) id.copy(ids, count++ * ID_BYTES);
      last = id;
      const of = places[idx];
      if (of !== undefined) of[place] = count - 1;
    }
  }
  // Else objects would be left out, and their pack removed all the same.
  for (const [number, idx] of idxs.entries())
    if (next[number] !== idx.count) throw new DamagedPack(idx.name, "its idx is not sorted");
  return { count, ids: ids.subarray(0, count * ID_BYTES), places };
}
