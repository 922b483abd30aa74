/** Object ids of 40 hexadecimal digits, 20 bytes each, one after the other; found again where that is wanted. */
import { Bytes, type Rows } from "./column.ts";
import { HashSlots, type KeptSlots } from "./hash-slots.ts";

const ID_BYTES = 20;

export class HexRows {
  readonly #bytes = new Bytes();

  readonly rows: readonly Rows[] = [this.#bytes];

  get length(): number {
    return this.#bytes.length / ID_BYTES;
  }

  /** @param id  40 hexadecimal digits @returns its row */
  push(id: string): number {
    const from = this.#bytes.extend(ID_BYTES);
    this.#bytes.held.write(id, from, ID_BYTES, "hex");
    return from / ID_BYTES;
  }

  at(row: number): string {
    return this.#bytes.held.toString("hex", row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  /** Whether a row holds the id that `bytes` begin with. */
  equals(row: number, bytes: Buffer): boolean {
    const from = row * ID_BYTES;
    return this.#bytes.held.compare(bytes, 0, ID_BYTES, from, from + ID_BYTES) === 0;
  }

  /** The first four bytes: as good as a hash. */
  hash(row: number): number {
    return this.#bytes.held.readInt32LE(row * ID_BYTES);
  }
}

/** As `HexRows`, each id once and found by itself. */
export class HexTable {
  readonly #ids = new HexRows();
  readonly #slots = new HashSlots((row) => this.#ids.hash(row));
  readonly #wanted = Buffer.alloc(ID_BYTES);

  /** Once rows were appended to an empty table, `restored` must follow. */
  readonly rows: readonly Rows[] = this.#ids.rows;

  get length(): number {
    return this.#ids.length;
  }

  /** Add an id that is not there. */
  push(id: string): number {
    const row = this.#ids.push(id);
    this.#slots.add(this.#ids.hash(row), row);
    return row;
  }

  at(row: number): string {
    return this.#ids.at(row);
  }

  /** The row of an id, or -1. */
  find(id: string): number {
    if (id.length !== ID_BYTES * 2 || this.#wanted.write(id, "hex") !== ID_BYTES) return -1;
    const wanted = this.#wanted;
    return this.#slots.find(wanted.readInt32LE(0), (row) => this.#ids.equals(row, wanted));
  }

  /** In a copy. */
  get slots(): KeptSlots {
    return { seed: 0, slots: this.#slots.copy(), size: this.length };
  }

  /**
   * @param known  finds the first of the ids, so that only the others are entered one by one
   * @throws RangeError  a part of an id, or others than are found
   */
  restored(known?: KeptSlots): void {
    if (!Number.isInteger(this.#ids.length)) throw new RangeError("the ids end in the middle of one");
    const from = known?.size ?? 0;
    if (from > this.#ids.length) throw new RangeError("there are fewer ids than are found");
    if (known) this.#slots.restore(known.slots, 0, from);
    this.#slots.reserve(this.#ids.length - from);
    for (let row = from; row < this.#ids.length; row++) this.#slots.add(this.#ids.hash(row), row);
  }
}
