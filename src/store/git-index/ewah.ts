/**
 * Sets of positions as Git's `link` extension keeps them: EWAH bitmaps, runs of equal 64-bit words between
 * literal ones.
 * @see gitformat-bitmap(5), "Appendix A: serialization format for an EWAH bitmap"
 */

const WORD_BYTES = 8;
const WORD_BITS = 64;
/** A run's word: 1 bit of value, 32 bits of length, 31 bits that count the literal words after it. */
const LITERALS_SHIFT = 33n;
const RUN_SHIFT = 1n;
const RUN_MASK = 0xffff_ffffn;

interface Group {
  /** Words of zeros before the literals. */
  readonly run: number;
  readonly literals: bigint[];
}

/** @param positions rising, each < 2^32 */
export function ewahBytes(positions: readonly number[]): Buffer {
  const groups: Group[] = [{ run: 0, literals: [] }];
  let words = 0;
  for (const position of positions) {
    const word = Math.floor(position / WORD_BITS);
    let group = groups.at(-1) as Group;
    if (word >= words) {
      if (word > words) {
        group = { run: word - words, literals: [] };
        groups.push(group);
      }
      group.literals.push(0n);
      words = word + 1;
    }
    const last = group.literals.length - 1;
    group.literals[last] = (group.literals[last] ?? 0n) | (1n << BigInt(position % WORD_BITS));
  }
  const size = groups.reduce((sum, { literals }) => sum + 1 + literals.length, 0);
  const out = Buffer.alloc(8 + size * WORD_BYTES + 4);
  out.writeUInt32BE((positions.at(-1) ?? -1) + 1, 0);
  out.writeUInt32BE(size, 4);
  let at = 8;
  let marker = 0;
  for (const { run, literals } of groups) {
    marker = (at - 8) / WORD_BYTES;
    out.writeBigUInt64BE((BigInt(literals.length) << LITERALS_SHIFT) | (BigInt(run) << RUN_SHIFT), at);
    at += WORD_BYTES;
    for (const word of literals) at = out.writeBigUInt64BE(word, at);
  }
  out.writeUInt32BE(marker, at);
  return out;
}

/**
 * @returns the positions, rising, and where the bitmap ends in the bytes; null when it is cut short
 * @param limit positions from here on are none: a run of ones may reach beyond the set
 */
export function readEwah(
  bytes: Buffer,
  from: number,
  limit: number,
): { readonly positions: number[]; readonly end: number } | null {
  if (from + 8 > bytes.length) return null;
  const bits = Math.min(bytes.readUInt32BE(from), limit);
  const size = bytes.readUInt32BE(from + 4);
  const words = from + 8;
  const end = words + size * WORD_BYTES + 4;
  if (end > bytes.length) return null;
  const positions: number[] = [];
  let word = 0;
  const push = (value: bigint) => {
    for (let bit = 0; bit < WORD_BITS && value >> BigInt(bit) !== 0n; bit++) {
      const position = word * WORD_BITS + bit;
      if (position < bits && (value >> BigInt(bit)) & 1n) positions.push(position);
    }
    word++;
  };
  for (let at = words; at < end - 4; ) {
    const marker = bytes.readBigUInt64BE(at);
    at += WORD_BYTES;
    const run = Number((marker >> RUN_SHIFT) & RUN_MASK);
    const ones = (marker & 1n) === 1n;
    for (let bit = word * WORD_BITS; ones && bit < Math.min((word + run) * WORD_BITS, bits); bit++)
      positions.push(bit);
    word += run;
    for (let left = Number(marker >> LITERALS_SHIFT); left > 0; left--, at += WORD_BYTES) {
      if (at >= end - 4) return null;
      push(bytes.readBigUInt64BE(at));
    }
  }
  return { positions, end };
}
