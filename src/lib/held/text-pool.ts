/**
 * Texts that many rows share, each held once, as bytes outside the heap, and named by a number.
 * Invariant: a text keeps its number; 0 is no text. Every JavaScript string comes back as it was.
 */
import { randomBytes } from "node:crypto";
import { Bytes, counts, type Rows } from "./column.ts";
import { HashSlots, type KeptSlots } from "./hash-slots.ts";

/** How a text's bytes are meant: pairs of hexadecimal digits, a byte a unit, or two bytes a unit. */
const ENCODINGS = ["hex", "latin1", "utf16le"] as const;
const HEX = 0;
const NARROW = 1;
const WIDE = 2;
/** Room for the kind in an end. */
const KINDS = 4;
/** What the ends can name. */
const POOL_MAX_BYTES = 2 ** 30;
const HEX_MIN_CHARS = 32;

export class TextPool {
  /** Not to be guessed from outside, so that nobody can make texts that share a hash. */
  #seed = randomBytes(4).readInt32LE(0);
  readonly #bytes = new Bytes();
  /** Of each text from number 1 on: its end in the bytes, times `KINDS`, plus how they are meant. */
  readonly #ends = counts();
  readonly #slots = new HashSlots((number) =>
    this.#hash(this.#bytes.held, this.#end(number - 1), this.#end(number)),
  );

  /** What to keep in a file; once rows were appended to an empty pool, `restored` must follow. */
  readonly rows: readonly Rows[] = [this.#bytes, this.#ends];

  /** One more than the highest number. */
  get size(): number {
    return this.#ends.length + 1;
  }

  /** The number of a text, given now when it has none. @throws RangeError  the pool is full */
  of(text: string): number {
    const encoded = encode(text);
    const { bytes, length, kind } = encoded;
    const hash = this.#hash(bytes, 0, length);
    const known = this.#find(encoded, hash);
    if (known > 0) return known;
    if (this.#bytes.length + length >= POOL_MAX_BYTES / KINDS) {
      throw new RangeError("a pool of texts holds at most 256 MiB");
    }
    const from = this.#bytes.extend(length);
    bytes.copy(this.#bytes.held, from, 0, length);
    const number = this.#ends.push(this.#bytes.length * KINDS + kind) + 1;
    this.#slots.add(hash, number);
    return number;
  }

  /** 0 for null. */
  ofOrNull(text: string | null): number {
    return text === null ? 0 : this.of(text);
  }

  /** The number of a text; 0 when it is not held. */
  find(text: string): number {
    const encoded = encode(text);
    return this.#find(encoded, this.#hash(encoded.bytes, 0, encoded.length));
  }

  #find({ bytes, length, kind }: Encoded, hash: number): number {
    const { held } = this.#bytes;
    const number = this.#slots.find(hash, (candidate) => {
      const from = this.#end(candidate - 1);
      if (this.#end(candidate) - from !== length || this.#kind(candidate) !== kind) return false;
      for (let i = 0; i < length; i++) if (held[from + i] !== bytes[i]) return false;
      return true;
    });
    return Math.max(0, number);
  }

  /** @throws RangeError  no text has this number */
  at(number: number): string {
    if (number <= 0 || number >= this.size) throw new RangeError(`no text number ${number}`);
    const encoding = ENCODINGS[this.#kind(number)];
    return this.#bytes.held.toString(encoding, this.#end(number - 1), this.#end(number));
  }

  /** Whether the text of a number ends so. @param ending  characters up to ÿ @cost a few bytes: no text is made */
  endsWith(number: number, ending: Uint8Array): boolean {
    if (this.#kind(number) !== NARROW)
      return this.at(number).endsWith(Buffer.from(ending).toString("latin1"));
    const { held } = this.#bytes;
    const from = this.#end(number) - ending.length;
    if (from < this.#end(number - 1)) return false;
    for (let i = 0; i < ending.length; i++) if (held[from + i] !== ending[i]) return false;
    return true;
  }

  atOrNull(number: number): string | null {
    return number === 0 ? null : this.at(number);
  }

  #end(number: number): number {
    return number === 0 ? 0 : Math.floor(this.#ends.at(number - 1) / KINDS);
  }

  #kind(number: number): number {
    return this.#ends.at(number - 1) % KINDS;
  }

  /** In a copy. */
  get slots(): KeptSlots {
    return { seed: this.#seed, slots: this.#slots.copy(), size: this.size };
  }

  /**
   * Rows were appended to an empty pool.
   * @param known  finds the first of them, so that only the others are entered one by one
   * @throws RangeError  no pool has such rows
   */
  restored(known?: KeptSlots): void {
    this.#ends.mustRiseTo(this.#bytes.length, KINDS);
    const from = known?.size ?? 1;
    if (from > this.size) throw new RangeError("there are fewer texts than are found");
    if (known) {
      this.#seed = known.seed;
      this.#slots.restore(known.slots, 1, from);
    }
    this.#slots.reserve(this.size - from);
    for (let number = from; number < this.size; number++) {
      this.#slots.add(this.#hash(this.#bytes.held, this.#end(number - 1), this.#end(number)), number);
    }
  }

  /** FNV-1a. */
  #hash(bytes: Buffer, from: number, to: number): number {
    let hash = this.#seed;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
    return hash;
  }
}

interface Encoded {
  readonly bytes: Buffer;
  /** How many of them. */
  readonly length: number;
  readonly kind: number;
}

const scratch = Buffer.alloc(4 << 10);

/** The bytes of a text; valid until the next call. */
function encode(text: string): Encoded {
  const { length } = text;
  if (length > scratch.length) return encodeLong(text);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    // Most texts are narrow and short, and looked at but this once.
    if (unit > 0xff) return encodeLong(text);
    scratch[i] = unit;
  }
  if (!isHex(text)) return { bytes: scratch, length, kind: NARROW };
  return { bytes: scratch, length: scratch.write(text, "hex"), kind: HEX };
}

function encodeLong(text: string): Encoded {
  const kind = isHex(text) ? HEX : /^[\u0000-\u00ff]*$/.test(text) ? NARROW : WIDE;
  const bytes = Buffer.from(text, ENCODINGS[kind]);
  return { bytes, length: bytes.length, kind };
}

const isHex = (text: string) =>
  text.length >= HEX_MIN_CHARS && text.length % 2 === 0 && /^[0-9a-f]+$/.test(text);
