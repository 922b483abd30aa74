/**
 * Several packs into one, entry by entry as they are: compressed bytes are copied, only the distances of
 * deltas to their bases are written anew. An object that several packs hold is kept once. In memory; reading
 * and writing files is `upkeep.ts`.
 * @see gitformat-pack(5)
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { slicer } from "../slicer.ts";
import type { ObjectId } from "./object-id.ts";
import {
  distanceBytes,
  type FinishedPack,
  idxOf,
  OFS_DELTA,
  PACK_HEADER_BYTES,
  type PackedAt,
  packHeader,
} from "./pack-bytes.ts";
import { readDistance } from "./pack-reader.ts";

export interface PackFile {
  readonly pack: Buffer;
  readonly idx: Buffer;
}

const CHECKSUM_BYTES = 20;

interface SourceEntry {
  readonly id: ObjectId;
  /** Type and size, as they are. */
  readonly head: Buffer;
  /** Offset of the base in the same pack; null for a whole object. */
  readonly base: number | null;
  readonly body: Buffer;
}

/** Where each object of an idx begins, by offset. Null for a layout that ours never have. */
function offsetsOf(idx: Buffer): { id: ObjectId; offset: number }[] | null {
  if (idx.length < 1072 || idx.readUInt32BE(0) !== 0xff744f63 || idx.readUInt32BE(4) !== 2) return null;
  const count = idx.readUInt32BE(8 + 255 * 4);
  const found: { id: ObjectId; offset: number }[] = [];
  for (let n = 0; n < count; n++) {
    const offset = idx.readUInt32BE(1032 + count * 24 + n * 4);
    if (offset >= 0x80000000) return null;
    found.push({ id: idx.toString("hex", 1032 + n * 20, 1052 + n * 20), offset });
  }
  return found.sort((a, b) => a.offset - b.offset);
}

/** Take an entry apart; null for a delta whose base is named by id, which may lie anywhere. */
function entryAt(pack: Buffer, id: ObjectId, offset: number, end: number): SourceEntry | null {
  let at = offset;
  const type = ((pack[at] ?? 0) >> 4) & 7;
  while ((pack[at] ?? 0) & 0x80) at++;
  at++;
  const head = pack.subarray(offset, at);
  if (type >= 1 && type <= 4) return { id, head, base: null, body: pack.subarray(at, end) };
  if (type !== OFS_DELTA) return null;
  const distance = readDistance(() => pack[at++] ?? 0);
  return { id, head, base: offset - distance, body: pack.subarray(at, end) };
}

/** A pack under construction. */
class Merged {
  readonly chunks: Buffer[] = [];
  readonly entries: PackedAt[] = [];
  readonly byId = new Map<ObjectId, number>();
  #offset = PACK_HEADER_BYTES;

  add({ id, head, body }: SourceEntry, base: number | null): number {
    const distance = Buffer.from(base === null ? [] : distanceBytes(this.#offset - base));
    const offset = this.#offset;
    this.chunks.push(head, distance, body);
    this.entries.push({ id, offset, crc: crc32(body, crc32(distance, crc32(head))) });
    this.byId.set(id, offset);
    this.#offset += head.length + distance.length + body.length;
    return offset;
  }
}

/**
 * Merge packs.
 *
 * @returns null when one of them holds a delta whose base is named by id, or is larger than 2 GiB
 * @cost one copy, one CRC and one SHA-1 of the bytes, in slices; a step for each object
 */
export async function mergePacks(files: readonly PackFile[]): Promise<FinishedPack | null> {
  const merged = new Merged();
  const turn = slicer();
  for (const { pack, idx } of files) {
    const objects = offsetsOf(idx);
    if (objects === null) return null;
    const moved = new Map<number, number>();
    for (const [n, { id, offset }] of objects.entries()) {
      const end = objects[n + 1]?.offset ?? pack.length - CHECKSUM_BYTES;
      const known = merged.byId.get(id);
      const entry = entryAt(pack, id, offset, end);
      const base = entry?.base === null ? null : moved.get(entry?.base ?? -1);
      if (entry === null || base === undefined) return null;
      moved.set(offset, known ?? merged.add(entry, base));
      await turn();
    }
  }
  return finish(merged, turn);
}

async function finish({ chunks, entries }: Merged, turn: () => Promise<void> | null): Promise<FinishedPack> {
  const header = packHeader(entries.length);
  const sha = createHash("sha1").update(header);
  for (const chunk of chunks) {
    sha.update(chunk);
    await turn();
  }
  const checksum = sha.digest();
  const pack = Buffer.concat([header, ...chunks, checksum]);
  return { name: checksum.toString("hex"), pack, idx: idxOf(entries, checksum), objects: entries.length };
}
