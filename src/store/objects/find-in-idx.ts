/**
 * Finds objects in the idx (version 2) of a pack. A small idx is held whole; a large one, which grows with history, stays
 * on disk and is read where the search goes: ids are spread evenly, so that is one page for the id and one for its
 * offset. Reading all of an idx is `read-idx.ts`.
 * @see gitformat-pack(5)
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ObjectId } from "./object-id.ts";
import { IDX_HEADER_BYTES } from "./read-idx.ts";

export interface PackIdx {
  readonly count: number;
  /** Position of an id (20 bytes) among the sorted ids, or -1. */
  find(id: Buffer): number;
  id(index: number): ObjectId;
  offset(index: number): number;
  /** First position whose id's first four bytes, as a number, are not below this. */
  lowerBound(head: number): number;
  close(): void;
}

const ID_BYTES = 20;
/** Beside what is asked for: some 100 ids to each side. */
const PAGE_BYTES = 4 << 10;

/**
 * @param heldBytes  an idx up to this size is held, a larger one keeps its file open
 * @throws Error when it is no idx of version 2, or cut short; Node errors
 * @cost where it is not held: two reads of a page an object that is found, one where it isn't
 */
export function openIdx(file: string, heldBytes: number): PackIdx {
  const fd = openSync(file, "r");
  let keepOpen = false;
  try {
    const { size } = fstatSync(fd);
    const whole = size > heldBytes ? null : readAt(file, fd, 0, size);
    const header = whole ?? readAt(file, fd, 0, Math.min(size, IDX_HEADER_BYTES));
    if (size < 1072 || header.readUInt32BE(0) !== 0xff744f63 || header.readUInt32BE(4) !== 2)
      throw new Error(
        `${file} is not a version 2 pack index; run git repack -ad with pack.indexVersion unset`,
      );
    const count = header.readUInt32BE(8 + 255 * 4);
    const offsets = IDX_HEADER_BYTES + count * 24;
    if (size < offsets + count * 4 + 40) throw new Error(`${file} is cut short`);
    const fanOut = Uint32Array.from({ length: 257 }, (_, byte) =>
      byte === 0 ? 0 : header.readUInt32BE(8 + (byte - 1) * 4),
    );
    keepOpen = whole === null;
    const part = () => new Part(file, fd, size, whole);
    return searchIn(count, fanOut, part(), part(), () => keepOpen && closeSync(fd));
  } finally {
    if (!keepOpen) closeSync(fd);
  }
}

/** @throws Error it is shorter than it was */
function readAt(file: string, fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  fill(file, fd, at, bytes);
  return bytes;
}

function fill(file: string, fd: number, at: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) {
    const got = readSync(fd, bytes, done, bytes.length - done, at + done);
    if (got === 0) throw new Error(`${file} is cut short`);
    done += got;
  }
}

/** One place of the file at a time, or all of it. */
class Part {
  readonly #file: string;
  readonly #fd: number;
  readonly #size: number;
  #bytes: Buffer;
  #from = 0;

  constructor(file: string, fd: number, size: number, whole: Buffer | null) {
    this.#file = file;
    this.#fd = fd;
    this.#size = size;
    this.#bytes = whole ?? Buffer.alloc(0);
  }

  number(at: number): number {
    const place = this.#seek(at, 4);
    return this.#bytes.readUInt32BE(place);
  }

  large(at: number): number {
    const place = this.#seek(at, 8);
    return Number(this.#bytes.readBigUInt64BE(place));
  }

  equals(at: number, id: Buffer): boolean {
    const place = this.#seek(at, ID_BYTES);
    return this.#bytes.compare(id, 0, ID_BYTES, place, place + ID_BYTES) === 0;
  }

  hex(at: number): string {
    const place = this.#seek(at, ID_BYTES);
    return this.#bytes.toString("hex", place, place + ID_BYTES);
  }

  #seek(at: number, length: number): number {
    if (at < this.#from || at + length > this.#from + this.#bytes.length) this.#load(at, length);
    return at - this.#from;
  }

  #load(at: number, length: number): void {
    const room = Math.min(PAGE_BYTES, this.#size);
    const from = Math.max(0, Math.min(at - ((room - length) >>> 1), this.#size - room));
    const bytes = this.#bytes.length === room ? this.#bytes : Buffer.allocUnsafeSlow(room);
    // What a failed read left is nobody's page.
    this.#bytes = Buffer.alloc(0);
    fill(this.#file, this.#fd, from, bytes);
    this.#bytes = bytes;
    this.#from = from;
  }
}

function searchIn(count: number, fanOut: Uint32Array, ids: Part, numbers: Part, close: () => void): PackIdx {
  const offsets = IDX_HEADER_BYTES + count * 24;
  const placeOf = (index: number) => IDX_HEADER_BYTES + index * ID_BYTES;
  const numberAt = (index: number) => ids.number(placeOf(index));
  /** The search begins near where the id should lie. */
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
        if (ids.equals(placeOf(index), id)) return index;
      }
      return -1;
    },
    id: (index) => ids.hex(placeOf(index)),
    offset(index) {
      const small = numbers.number(offsets + index * 4);
      return small < 0x80000000 ? small : numbers.large(offsets + count * 4 + (small - 0x80000000) * 8);
    },
    close,
  };
}
