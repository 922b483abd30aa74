/**
 * Texts that many rows share, each held once, as bytes outside the heap, and named by a number.
 * Invariant: a text keeps its number; 0 is no text. Every JavaScript string comes back as it was.
 */
import { randomBytes } from "node:crypto";
import { Bytes, counts, type Rows } from "./column.ts";
import { HashSlots } from "./hash-slots.ts";

/** How a text's bytes are meant: pairs of hexadecimal digits, a byte a unit, or two bytes a unit. */
const ENCODINGS = ["hex", "latin1", "utf16le"] as const;
const [HEX, NARROW, WIDE] = [0, 1, 2];
/** Room for the kind in an end. */
const KINDS = 4;
/** What the ends can name. */
const POOL_MAX_BYTES = 2 ** 30;
const HEX_MIN_CHARS = 32;

/** Not to be guessed from outside, so that nobody can make texts that share a hash. */
const SEED = randomBytes(4).readInt32LE(0);

export class TextPool {
  readonly #bytes = new Bytes();
  /** Of each text from number 1 on: its end in the bytes, times `KINDS`, plus how they are meant. */
  readonly #ends = counts();
  readonly #slots = new HashSlots((number) =>
    hashOf(this.#bytes.held, this.#end(number - 1), this.#end(number)),
  );

  /** What to keep in a file; once rows were appended to an empty pool, `restored` must follow. */
  readonly rows: readonly Rows[] = [this.#bytes, this.#ends];

  /** One more than the highest number. */
  get size(): number {
    return this.#ends.length + 1;
  }

  /** The number of a text, given now when it has none. @throws RangeError  the pool is full */
  of(text: string): number {
    const kind = kindOf(text);
    const bytes = encoded(text, kind);
    const hash = hashOf(bytes, 0, bytes.length);
    const known = this.#find(bytes, kind, hash);
    if (known > 0) return known;
    if (this.#bytes.length + bytes.length >= POOL_MAX_BYTES / KINDS) {
      throw new RangeError("a pool of texts holds at most 256 MiB");
    }
    this.#bytes.append(bytes);
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
    const kind = kindOf(text);
    const bytes = encoded(text, kind);
    return this.#find(bytes, kind, hashOf(bytes, 0, bytes.length));
  }

  #find(bytes: Buffer, kind: number, hash: number): number {
    const number = this.#slots.find(hash, (candidate) => {
      const from = this.#end(candidate - 1);
      const to = this.#end(candidate);
      return (
        to - from === bytes.length &&
        this.#kind(candidate) === kind &&
        this.#bytes.held.compare(bytes, 0, bytes.length, from, to) === 0
      );
    });
    return Math.max(0, number);
  }

  /** @throws RangeError  no text has this number */
  at(number: number): string {
    if (number <= 0 || number >= this.size) throw new RangeError(`no text number ${number}`);
    const encoding = ENCODINGS[this.#kind(number)];
    return this.#bytes.held.toString(encoding, this.#end(number - 1), this.#end(number));
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

  restored(): void {
    this.#slots.reserve(this.#ends.length);
    for (let number = 1; number < this.size; number++) {
      this.#slots.add(hashOf(this.#bytes.held, this.#end(number - 1), this.#end(number)), number);
    }
  }
}

function kindOf(text: string): number {
  if (text.length >= HEX_MIN_CHARS && text.length % 2 === 0 && /^[0-9a-f]+$/.test(text)) return HEX ?? 0;
  return (/^[\u0000-\u00ff]*$/.test(text) ? NARROW : WIDE) ?? 0;
}

const scratch = Buffer.alloc(4 << 10);

/** The bytes of a text; valid until the next call. */
function encoded(text: string, kind: number): Buffer {
  const encoding = ENCODINGS[kind];
  if (text.length * 2 > scratch.length) return Buffer.from(text, encoding);
  return scratch.subarray(0, scratch.write(text, encoding));
}

/** FNV-1a. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = SEED;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return hash;
}
