/**
 * Inflates small zlib streams in JavaScript, where they are stored or in the fixed code, as deltas of trees are:
 * for fifty bytes setting zlib up costs many times more than the work. A fast lane alone: codes of a stream's own
 * and whatever is odd (damage, another length than was said) give null, and zlib itself decides. Adler-32 is not
 * compared: an object is proved by its id.
 * @see RFC 1950, RFC 1951
 */

/** Where reading stands. */
interface Bits {
  source: Uint8Array;
  at: number;
  end: number;
  /** Bits that were taken from the source and not used yet, the next one lowest. */
  held: number;
  count: number;
}

/** The next `count` bits (≤ 16), or -1 behind the end. */
function take(bits: Bits, count: number): number {
  while (bits.count < count) {
    if (bits.at >= bits.end) return -1;
    bits.held |= (bits.source[bits.at++] ?? 0) << bits.count;
    bits.count += 8;
  }
  const value = bits.held & ((1 << count) - 1);
  bits.held >>>= count;
  bits.count -= count;
  return value;
}

const CODE_BITS_MAX = 9;
const REVERSED = Uint16Array.from({ length: 1 << CODE_BITS_MAX }, (_, number) =>
  reverse(number, CODE_BITS_MAX),
);

function reverse(number: number, width: number): number {
  let reversed = 0;
  for (let bit = 0; bit < width; bit++) reversed |= ((number >>> bit) & 1) << (width - 1 - bit);
  return reversed;
}

/** By the next nine bits: symbol × 16 + length of its code. A code comes with its first bit lowest. */
const LITERALS = Uint16Array.from({ length: 1 << CODE_BITS_MAX }, (_, bits) => {
  const code = REVERSED[bits] ?? 0;
  if (code >>> 2 < 0x18) return ((256 + (code >>> 2)) << 4) | 7;
  if (code >>> 1 < 0xc0) return (((code >>> 1) - 0x30) << 4) | 8;
  if (code >>> 1 < 0xc8) return ((280 + (code >>> 1) - 0xc0) << 4) | 8;
  return ((144 + code - 0x190) << 4) | 9;
});
const END_OF_BLOCK = 256;

/** The next symbol, or -1. */
function takeSymbol(bits: Bits): number {
  while (bits.count < CODE_BITS_MAX && bits.at < bits.end) {
    bits.held |= (bits.source[bits.at++] ?? 0) << bits.count;
    bits.count += 8;
  }
  const entry = LITERALS[bits.held & ((1 << CODE_BITS_MAX) - 1)] ?? 0;
  const length = entry & 15;
  if (length > bits.count) return -1;
  bits.held >>>= length;
  bits.count -= length;
  return entry >>> 4;
}

const LENGTH_BASE = Uint16Array.of(
  ...[
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  ],
  ...[227, 258],
);
const LENGTH_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
);
const DISTANCE_BASE = Uint16Array.of(
  ...[1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073],
  ...[4097, 6145, 8193, 12289, 16385, 24577],
);
const DISTANCE_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13],
);
/** Decode a block in the fixed code. @returns where writing stands, or -1 */
function fixedBlock(bits: Bits, out: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    const symbol = takeSymbol(bits);
    if (symbol < END_OF_BLOCK) {
      if (symbol < 0 || at >= out.length) return -1;
      out[at++] = symbol;
      continue;
    }
    if (symbol === END_OF_BLOCK) return at;
    const kind = symbol - END_OF_BLOCK - 1;
    if (kind >= LENGTH_BASE.length) return -1;
    const more = take(bits, LENGTH_BITS[kind] ?? 0);
    const far = reverse(take(bits, 5), 5);
    if (more < 0 || far >= DISTANCE_BASE.length) return -1;
    const farther = take(bits, DISTANCE_BITS[far] ?? 0);
    const source = at - (DISTANCE_BASE[far] ?? 0) - farther;
    const end = at + (LENGTH_BASE[kind] ?? 0) + more;
    if (farther < 0 || source < 0 || end > out.length) return -1;
    for (let copy = source; at < end; ) out[at++] = out[copy++] ?? 0;
  }
}

/** Copy a stored block. @returns where writing stands, or -1 */
function storedBlock(bits: Bits, out: Uint8Array, from: number): number {
  // Whole bytes that were taken ahead are given back.
  bits.at -= bits.count >>> 3;
  bits.held = 0;
  bits.count = 0;
  const { source, at } = bits;
  if (at + 4 > bits.end) return -1;
  const length = (source[at] ?? 0) | ((source[at + 1] ?? 0) << 8);
  const inverse = (source[at + 2] ?? 0) | ((source[at + 3] ?? 0) << 8);
  const end = at + 4 + length;
  if ((length ^ inverse) !== 0xffff || end > bits.end || from + length > out.length) return -1;
  for (let to = from, i = at + 4; i < end; ) out[to++] = source[i++] ?? 0;
  bits.at = end;
  return from + length;
}

const bits: Bits = { source: new Uint8Array(0), at: 0, end: 0, held: 0, count: 0 };

/**
 * Inflate the zlib stream that begins at the head of `source`, which may go on behind it.
 * @param size  bytes that it must give
 * @returns null when it is better left to zlib
 * @cost some 10 ns a byte
 */
export function inflateSmall(source: Uint8Array, size: number): Buffer | null {
  const method = source[0] ?? 0;
  const flags = source[1] ?? 0;
  const isPlain = (method & 15) === 8 && method >>> 4 < 8 && (method * 256 + flags) % 31 === 0;
  // Bits 1 and 2 of the third byte are the kind of the first block.
  if (!isPlain || (flags & 32) !== 0 || ((source[2] ?? 0) & 6) === DYNAMIC << 1) return null;
  bits.source = source;
  bits.at = 2;
  bits.end = source.length;
  bits.held = 0;
  bits.count = 0;
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (let last = 0; last === 0; ) {
    last = take(bits, 1);
    const kind = take(bits, 2);
    if (last < 0 || (kind !== STORED && kind !== FIXED)) return null;
    at = kind === STORED ? storedBlock(bits, out, at) : fixedBlock(bits, out, at);
    if (at < 0) return null;
  }
  // The checksum behind it must be there, as zlib would want it.
  return at === size && bits.at - (bits.count >>> 3) + CHECKSUM_BYTES <= bits.end ? out : null;
}

const STORED = 0;
const FIXED = 1;
const DYNAMIC = 2;
const CHECKSUM_BYTES = 4;
