/**
 * Writes one large pack and its idx as unfinished files, synced, in pieces, so that memory follows the piece and not
 * the pack. The order of objects and their bytes are the caller's.
 * @see gitformat-pack(5)
 */
import { createHash, type Hash, hash } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, rmSync } from "node:fs";
import { crc32 } from "node:zlib";
import { writeAllSync } from "../../lib/durable-file.ts";
import { packHeader } from "./pack-bytes.ts";
import { newPackName, unfinishedPackFile } from "./pack-names.ts";
import { IDX_HEADER_BYTES, type IdxUnion } from "./read-idx.ts";

export interface MergedPackFile {
  /** 40 hex digits; its files are unfinished. */
  readonly name: string;
  readonly bytes: number;
  readonly objects: number;
}

/** The new pack while it is filled. */
export interface EntrySink {
  /** Where the next entry will begin. */
  readonly offset: number;
  /** Where an object's entry begins, by its number in the union; 0 while it has none. */
  at(object: number): number;
  /** @param crc of the parts together, when it is known */
  add(object: number, parts: readonly Uint8Array[], crc?: number): void;
}

const PIECE_BYTES = 1 << 20;
const MOST_BYTES = 2 ** 31 - 1;

/**
 * @param fill adds every object of the union once
 * @throws what `fill` throws, Node errors; the unfinished files are gone then
 */
export function writeMergedPack(
  gitdir: string,
  union: IdxUnion,
  fill: (sink: EntrySink) => void,
): MergedPackFile {
  const name = newPackName("fresh");
  const pack = unfinishedPackFile(gitdir, name, "pack");
  const idx = unfinishedPackFile(gitdir, name, "idx");
  try {
    const offsets = new Uint32Array(union.count);
    const crcs = new Uint32Array(union.count);
    let objects = 0;
    const out = new PieceFile(pack);
    const checksum = out.closing(() => {
      out.write(packHeader(union.count));
      fill({
        get offset() {
          return out.bytes;
        },
        at: (object) => offsets[object] ?? 0,
        add(object, parts, crc) {
          if (out.bytes > MOST_BYTES) throw new Error("the merged pack would be larger than 2 GiB");
          offsets[object] = out.bytes;
          crcs[object] = crc ?? parts.reduce((sum, part) => crc32(part, sum), 0);
          for (const part of parts) out.write(part);
          objects++;
        },
      });
      if (objects !== union.count) throw new Error(`a merged pack got ${objects} of ${union.count} objects`);
      return out.finish();
    });
    writeUnfinished(idx, idxOf(union, crcs, offsets, checksum));
    return { name, bytes: out.bytes, objects };
  } catch (error) {
    for (const path of [pack, idx]) rmSync(path, { force: true });
    throw error;
  }
}

/** Write and sync a new file. */
export function writeUnfinished(path: string, bytes: Uint8Array): void {
  const file = new PieceFile(path);
  file.closing(() => {
    file.write(bytes);
    file.sync();
  });
}

/** Make the bytes of a file that somebody else wrote durable. */
export function syncFile(path: string): void {
  const fd = openSync(path, "r");
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A new file, written in pieces and hashed on the way. */
class PieceFile {
  bytes = 0;
  readonly #fd: number;
  readonly #sha: Hash = createHash("sha1");
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #filled = 0;

  constructor(path: string) {
    this.#fd = openSync(path, "wx", 0o444);
  }

  write(part: Uint8Array): void {
    this.bytes += part.length;
    if (this.#filled + part.length > PIECE_BYTES) this.#flush();
    if (part.length > PIECE_BYTES) {
      this.#sha.update(part);
      writeAllSync(this.#fd, part);
      return;
    }
    this.#piece.set(part, this.#filled);
    this.#filled += part.length;
  }

  /** Write the trailing checksum and sync. */
  finish(): Buffer {
    this.#flush();
    const checksum = this.#sha.digest();
    writeAllSync(this.#fd, checksum);
    this.bytes += checksum.length;
    fdatasyncSync(this.#fd);
    return checksum;
  }

  sync(): void {
    this.#flush();
    fdatasyncSync(this.#fd);
  }

  closing<T>(work: () => T): T {
    try {
      return work();
    } finally {
      closeSync(this.#fd);
    }
  }

  #flush(): void {
    const part = this.#piece.subarray(0, this.#filled);
    this.#sha.update(part);
    writeAllSync(this.#fd, part);
    this.#filled = 0;
  }
}

function idxOf(
  { ids, count }: IdxUnion,
  crcs: Uint32Array,
  offsets: Uint32Array,
  packChecksum: Buffer,
): Buffer {
  const idx = Buffer.alloc(IDX_HEADER_BYTES + count * 28 + 40);
  idx.writeUInt32BE(0xff744f63, 0);
  idx.writeUInt32BE(2, 4);
  const perFirstByte = new Uint32Array(256);
  for (let object = 0; object < count; object++) {
    const first = ids[object * 20] ?? 0;
    perFirstByte[first] = (perFirstByte[first] ?? 0) + 1;
  }
  let total = 0;
  for (let byte = 0; byte < 256; byte++) {
    total += perFirstByte[byte] ?? 0;
    idx.writeUInt32BE(total, 8 + byte * 4);
  }
  ids.copy(idx, IDX_HEADER_BYTES);
  const crcsAt = IDX_HEADER_BYTES + count * 20;
  for (let object = 0; object < count; object++) {
    idx.writeUInt32BE(crcs[object] ?? 0, crcsAt + object * 4);
    idx.writeUInt32BE(offsets[object] ?? 0, crcsAt + (count + object) * 4);
  }
  packChecksum.copy(idx, idx.length - 40);
  hash("sha1", idx.subarray(0, -20), "buffer").copy(idx, idx.length - 20);
  return idx;
}
