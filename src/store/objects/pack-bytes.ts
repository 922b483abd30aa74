/**
 * The bytes of one small pack (version 2) and its idx (version 2), built in memory, each object once.
 * Where they go on disk, and when, is `pack-writer.ts`.
 * @see gitformat-pack(5)
 */
import { hash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { type ByteWriter, byteWriter } from "../../lib/byte-writer.ts";
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
/** For the lengths, copies and marks beside what is inserted or stored. */
const MARKS_ROOM_BYTES = 64;
/** Of one write, mostly. */
const FIRST_PACK_BYTES = 8192;

function writeEntryHeader(out: ByteWriter, type: number, length: number): void {
  let byte = (type << 4) | (length & 15);
  for (let rest = Math.floor(length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    out.byte(byte | 128);
    byte = rest & 127;
  }
  out.byte(byte);
}

/** How far back the base of an offset delta lies, as the pack writes it. */
export function distanceBytes(bytes: number): number[] {
  const out = [bytes & 127];
  for (let rest = bytes >>> 7; rest > 0; rest >>>= 7) out.unshift(128 | (--rest & 127));
  return out;
}

function writeVarint(out: ByteWriter, value: number): void {
  let rest = value;
  for (; rest > 127; rest >>>= 7) out.byte((rest & 127) | 128);
  out.byte(rest);
}

/** Offset and size with their zero bytes left out, after a byte that says which are there. */
function writeCopy(out: ByteWriter, from: number, length: number): void {
  for (let at = from, left = length; left > 0; ) {
    const size = Math.min(left, MAX_COPY);
    let present = 0x80;
    for (let i = 0; i < 4; i++) if (((at >>> (8 * i)) & 255) !== 0) present |= 1 << i;
    for (let i = 0; i < 2; i++) if (((size >>> (8 * i)) & 255) !== 0) present |= 16 << i;
    out.byte(present);
    for (let i = 0; i < 4; i++) if ((present & (1 << i)) !== 0) out.byte((at >>> (8 * i)) & 255);
    for (let i = 0; i < 2; i++) if ((present & (16 << i)) !== 0) out.byte((size >>> (8 * i)) & 255);
    at += size;
    left -= size;
  }
}

/** A Git delta of one edit: copy, insert, copy. */
function editDelta({ baseLength, at, removed, inserted }: ObjectEdit): Buffer {
  const out = byteWriter(inserted.length + MARKS_ROOM_BYTES);
  writeVarint(out, baseLength);
  writeVarint(out, baseLength - removed + inserted.length);
  writeCopy(out, 0, at);
  for (let from = 0; from < inserted.length; from += 127) {
    const part = inserted.subarray(from, from + 127);
    out.byte(part.length);
    out.bytes(part);
  }
  writeCopy(out, at + removed, baseLength - at - removed);
  return out.all();
}

/** Adler-32 takes the remainder at least this often, so that its sums stay exact. */
const ADLER_RUN = 5552;
const MAX_STORED = 0xffff;

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let from = 0; from < bytes.length; from += ADLER_RUN) {
    const to = Math.min(from + ADLER_RUN, bytes.length);
    for (let at = from; at < to; at++) {
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
function writeStored(out: ByteWriter, content: Uint8Array): void {
  const { length } = content;
  for (const byte of [0x78, 0x01, 1, length & 255, length >>> 8]) out.byte(byte);
  out.byte(~length & 255);
  out.byte((~length >>> 8) & 255);
  out.bytes(content);
  out.uint32(adler32(content));
}

/** Up to here deflating would save less than a disk block. */
const SMALL_BYTES = 2048;

function writeCompressed(out: ByteWriter, content: Uint8Array, isDelta: boolean): void {
  if (content.length <= (isDelta ? MAX_STORED : SMALL_BYTES)) writeStored(out, content);
  else out.bytes(deflated(content, isDelta ? 0 : 1));
}

/** Small windows for what isn't large: setting up the default one costs more than the work. */
function deflated(content: Uint8Array, level: number): Buffer {
  const windowBits = Math.max(9, Math.min(15, 32 - Math.clz32(content.length)));
  const memLevel = Math.max(1, windowBits - 7);
  return deflateSync(content, { level, windowBits, memLevel, chunkSize: content.length + 64 });
}

/**
 * What `writeStored` wrote, deflated: for whoever has the time that a writer hasn't.
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
  const out = byteWriter(bytes.length + MARKS_ROOM_BYTES);
  writeEntryHeader(out, TYPE_NUMBER[type], bytes.length);
  writeCompressed(out, bytes, false);
  return out.all();
}

/** The idx (version 2) of a pack, from where each object begins. Offsets stay below 2 GiB. */
function idxOf(entries: readonly PackedAt[], packChecksum: Buffer): Buffer {
  // Hex digits sort as the bytes they stand for.
  const sorted = [...entries].sort((a, b) => (a.id < b.id ? -1 : 1));
  const count = sorted.length;
  const idx = Buffer.alloc(8 + 1024 + count * 28 + 40);
  idx.writeUInt32BE(0xff744f63, 0);
  idx.writeUInt32BE(2, 4);
  const perFirstByte = new Uint32Array(256);
  for (const { id } of sorted) {
    const first = Number.parseInt(id.slice(0, 2), 16);
    perFirstByte[first] = (perFirstByte[first] ?? 0) + 1;
  }
  let total = 0;
  for (let byte = 0; byte < 256; byte++) {
    total += perFirstByte[byte] ?? 0;
    idx.writeUInt32BE(total, 8 + byte * 4);
  }
  sorted.forEach(({ id, crc, offset }, index) => {
    idx.write(id, 1032 + index * 20, "hex");
    idx.writeUInt32BE(crc, 1032 + count * 20 + index * 4);
    idx.writeUInt32BE(offset, 1032 + count * 24 + index * 4);
  });
  packChecksum.copy(idx, idx.length - 40);
  hash("sha1", idx.subarray(0, -20), "buffer").copy(idx, idx.length - 20);
  return idx;
}

/** An empty pack. @cost memory: the compressed bytes; keep a group under 2 GiB (256 writes of ≤ 1 MiB are) */
export function packBuilder(): PackBuilder {
  const out = byteWriter(FIRST_PACK_BYTES);
  out.bytes(packHeader(0));
  const entries: Entry[] = [];
  const byId = new Map<ObjectId, Entry>();

  const end = (id: ObjectId, offset: number, depth: number) => {
    const entry = { id, offset, crc: crc32(out.since(offset)), depth };
    entries.push(entry);
    byId.set(id, entry);
  };

  function addWhole(type: ObjectType, id: ObjectId, bytes: Uint8Array): void {
    const offset = out.length;
    writeEntryHeader(out, TYPE_NUMBER[type], bytes.length);
    writeCompressed(out, bytes, false);
    end(id, offset, 0);
  }

  function addDelta(id: ObjectId, edit: ObjectEdit, base: Entry): void {
    const offset = out.length;
    const delta = editDelta(edit);
    writeEntryHeader(out, OFS_DELTA, delta.length);
    for (const byte of distanceBytes(offset - base.offset)) out.byte(byte);
    writeCompressed(out, delta, true);
    end(id, offset, base.depth + 1);
  }

  return {
    add(type, id, bytes, edit) {
      if (byId.has(id)) return;
      const base = edit === undefined ? undefined : byId.get(edit.base);
      const deltaPays = base !== undefined && base.depth < MAX_DEPTH && bytes.length >= MIN_DELTA_BYTES;
      if (edit !== undefined && deltaPays) addDelta(id, edit, base);
      else addWhole(type, id, bytes);
    },
    has: (id) => byId.has(id),
    get size() {
      return entries.length;
    },
    finish() {
      packHeader(entries.length).copy(out.all());
      const checksum = hash("sha1", out.all(), "buffer");
      const pack = Buffer.concat([out.all(), checksum]);
      return { name: newPackName("fresh"), pack, idx: idxOf(entries, checksum), objects: entries.length };
    },
  };
}
