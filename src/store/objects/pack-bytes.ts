/**
 * The bytes of one small pack (version 2) and its idx (version 2), built in memory, each object once.
 * Where they go on disk, and when, is `pack-writer.ts`.
 * @see gitformat-pack(5)
 */
import { hash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import type { ObjectId, ObjectType } from "./object-id.ts";
import { newPackName } from "./pack-names.ts";

/** One replaced range that turns a base object into this one; lets a tree cost its change, not its size. */
export interface ObjectEdit {
  /** Must be in the pack already, else the object is stored whole. */
  readonly base: ObjectId;
  readonly baseLength: number;
  /** Offset in the base, bytes dropped there, and what stands instead. */
  readonly at: number;
  readonly removed: number;
  readonly inserted: Uint8Array;
}

interface PackedAt {
  readonly id: ObjectId;
  readonly offset: number;
  /** CRC-32 of the entry as it lies in the pack. */
  readonly crc: number;
}

interface Entry extends PackedAt {
  /** Length of the delta chain below it. */
  readonly depth: number;
}

export interface FinishedPack {
  /** 40 hex digits, another one for each pack: see `newPackName`. */
  readonly name: string;
  readonly pack: Buffer;
  readonly idx: Buffer;
  readonly objects: number;
}

export interface PackBuilder {
  /** Add an object once; an id that is in already is passed over. */
  add(type: ObjectType, id: ObjectId, bytes: Uint8Array, edit?: ObjectEdit): void;
  has(id: ObjectId): boolean;
  readonly size: number;
  finish(): FinishedPack;
}

/** How a pack begins, before its first entry. */
export function packHeader(objects: number): Buffer {
  const header = Buffer.alloc(PACK_HEADER_BYTES);
  header.write("PACK", "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects, 8);
  return header;
}

const TYPE_NUMBER = { commit: 1, tree: 2, blob: 3 } as const;
const PACK_HEADER_BYTES = 12;
export const OFS_DELTA = 6;
/** Git's own default depth is 50; a reader unpacks the whole chain. */
const MAX_DEPTH = 40;
const MIN_DELTA_BYTES = 200;
const MAX_COPY = 0xffff;

function entryHeader(type: number, length: number): number[] {
  const out: number[] = [];
  let byte = (type << 4) | (length & 15);
  for (let rest = Math.floor(length / 16); ; rest = Math.floor(rest / 128)) {
    if (rest === 0) return [...out, byte];
    out.push(byte | 128);
    byte = rest & 127;
  }
}

/** How far back the base of an offset delta lies, as the pack writes it. */
export function distanceBytes(bytes: number): number[] {
  const out = [bytes & 127];
  for (let rest = bytes >>> 7; rest > 0; rest >>>= 7) out.unshift(128 | (--rest & 127));
  return out;
}

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) out.push((rest & 127) | 128);
  return [...out, rest];
}

function copy(out: number[], from: number, length: number): void {
  for (let at = from, left = length; left > 0; ) {
    const size = Math.min(left, MAX_COPY);
    const at0 = [at & 255, (at >>> 8) & 255, (at >>> 16) & 255, (at >>> 24) & 255, size & 255, size >>> 8];
    const present = at0.map((byte, index) => (byte === 0 ? 0 : 1 << index));
    out.push(0x80 | present.reduce((sum, bit) => sum + bit), ...at0.filter((byte) => byte !== 0));
    at += size;
    left -= size;
  }
}

/** A Git delta of one edit: copy, insert, copy. */
function editDelta({ baseLength, at, removed, inserted }: ObjectEdit): Buffer {
  const out = [...varint(baseLength), ...varint(baseLength - removed + inserted.length)];
  copy(out, 0, at);
  for (let from = 0; from < inserted.length; from += 127) {
    const part = inserted.subarray(from, from + 127);
    out.push(part.length, ...part);
  }
  copy(out, at + removed, baseLength - at - removed);
  return Buffer.from(out);
}

/** Adler-32 takes the remainder at least this often, so that its sums stay exact. */
const ADLER_RUN = 5552;
const MAX_STORED = 0xffff;

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let from = 0; from < bytes.length; from += ADLER_RUN) {
    for (let at = from; at < Math.min(from + ADLER_RUN, bytes.length); at++) {
      a += bytes[at] ?? 0;
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return b * 65536 + a;
}

/**
 * A zlib stream of one stored block: for a delta, mostly ids, which don't shrink, and for what is small. Setting up
 * zlib costs some twenty times more than this; a later repack by Git deflates.
 * @see RFC 1950, RFC 1951 section 3.2.4
 */
function stored(content: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(content.length + 11);
  out.writeUInt16BE(0x7801, 0);
  out[2] = 1;
  out.writeUInt16LE(content.length, 3);
  out.writeUInt16LE(content.length ^ MAX_STORED, 5);
  out.set(content, 7);
  out.writeUInt32BE(adler32(content), content.length + 7);
  return out;
}

/** Up to here deflating would save less than a disk block. */
const SMALL_BYTES = 2048;

function compress(content: Uint8Array, isDelta: boolean): Buffer {
  if (content.length <= (isDelta ? MAX_STORED : SMALL_BYTES)) return stored(content);
  return deflated(content, isDelta ? 0 : 1);
}

/** Small windows for what isn't large: setting up the default one costs more than the work. */
function deflated(content: Uint8Array, level: number): Buffer {
  const windowBits = Math.max(9, Math.min(15, 32 - Math.clz32(content.length)));
  const memLevel = Math.max(1, windowBits - 7);
  return deflateSync(content, { level, windowBits, memLevel, chunkSize: content.length + 64 });
}

/**
 * What `stored` wrote, deflated: for whoever has the time that a writer hasn't.
 * @param stream a zlib stream
 * @returns the stream itself when it is another kind, or would not become smaller
 */
export function deflateStored(stream: Buffer): Buffer {
  if (stream.length < 11 || stream.readUIntBE(0, 3) !== 0x780101) return stream;
  const length = stream.readUInt16LE(3);
  if (stream.length !== length + 11) return stream;
  const smaller = deflated(stream.subarray(7, length + 7), 6);
  return smaller.length < stream.length ? smaller : stream;
}

/** An object whole, as an entry of a pack. */
export function wholeEntry(type: ObjectType, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(entryHeader(TYPE_NUMBER[type], bytes.length)), compress(bytes, false)]);
}

/** The idx (version 2) of a pack, from where each object begins. Offsets stay below 2 GiB. */
function idxOf(entries: readonly PackedAt[], packChecksum: Buffer): Buffer {
  const sorted = entries
    .map((entry) => ({ entry, id: Buffer.from(entry.id, "hex") }))
    .sort((a, b) => Buffer.compare(a.id, b.id));
  const count = sorted.length;
  const idx = Buffer.alloc(8 + 1024 + count * 28 + 40);
  idx.writeUInt32BE(0xff744f63, 0);
  idx.writeUInt32BE(2, 4);
  const perFirstByte = new Uint32Array(256);
  for (const { id } of sorted) perFirstByte[id[0] ?? 0] = (perFirstByte[id[0] ?? 0] ?? 0) + 1;
  let total = 0;
  for (let byte = 0; byte < 256; byte++) {
    total += perFirstByte[byte] ?? 0;
    idx.writeUInt32BE(total, 8 + byte * 4);
  }
  sorted.forEach(({ entry, id }, index) => {
    id.copy(idx, 1032 + index * 20);
    idx.writeUInt32BE(entry.crc, 1032 + count * 20 + index * 4);
    idx.writeUInt32BE(entry.offset, 1032 + count * 24 + index * 4);
  });
  packChecksum.copy(idx, idx.length - 40);
  hash("sha1", idx.subarray(0, -20), "buffer").copy(idx, idx.length - 20);
  return idx;
}

/** An empty pack. @cost memory: the compressed bytes; keep a group under 2 GiB (256 writes of ≤ 1 MiB are) */
export function packBuilder(): PackBuilder {
  const chunks: Uint8Array[] = [Buffer.alloc(PACK_HEADER_BYTES)];
  const entries: Entry[] = [];
  const byId = new Map<ObjectId, Entry>();
  let offset = PACK_HEADER_BYTES;

  const push = (id: ObjectId, head: number[], content: Uint8Array, depth: number) => {
    const header = Buffer.from(head);
    const body = compress(content, depth > 0);
    const entry = { id, offset, crc: crc32(body, crc32(header)), depth };
    chunks.push(header, body);
    offset += header.length + body.length;
    entries.push(entry);
    byId.set(id, entry);
  };

  return {
    add(type, id, bytes, edit) {
      if (byId.has(id)) return;
      const base = edit === undefined ? undefined : byId.get(edit.base);
      if (
        edit === undefined ||
        base === undefined ||
        base.depth >= MAX_DEPTH ||
        bytes.length < MIN_DELTA_BYTES
      ) {
        push(id, entryHeader(TYPE_NUMBER[type], bytes.length), bytes, 0);
        return;
      }
      const delta = editDelta(edit);
      const head = [...entryHeader(OFS_DELTA, delta.length), ...distanceBytes(offset - base.offset)];
      push(id, head, delta, base.depth + 1);
    },
    has: (id) => byId.has(id),
    get size() {
      return entries.length;
    },
    finish() {
      chunks[0] = packHeader(entries.length);
      const body = Buffer.concat(chunks);
      const checksum = hash("sha1", body, "buffer");
      const pack = Buffer.concat([body, checksum]);
      return { name: newPackName("fresh"), pack, idx: idxOf(entries, checksum), objects: entries.length };
    },
  };
}
