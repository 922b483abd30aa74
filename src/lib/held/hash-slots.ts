/**
 * Open addressing over rows that lie elsewhere: from a hash to the row that a caller says is equal. Holds numbers
 * only, some 7 bytes a row.
 */
const FULL = 0.8;

/** What finds the rows of a table, for a file. */
export interface KeptSlots {
  /** What hashes begin with. */
  readonly seed: number;
  readonly slots: Uint8Array;
  /** One more than the highest row that it finds. */
  readonly size: number;
}

export class HashSlots {
  #slots: Uint32Array = new Uint32Array(64);
  #used = 0;
  readonly #hashOf: (row: number) => number;

  /** @param hashOf  the hash of a row that was added, 32 bits: asked for when the table grows */
  constructor(hashOf: (row: number) => number) {
    this.#hashOf = hashOf;
  }

  /** The row with this hash for which `same` holds, or -1. */
  find(hash: number, same: (row: number) => boolean): number {
    const mask = this.#slots.length - 1;
    for (let at = spread(hash) & mask; ; at = (at + 1) & mask) {
      const row = (this.#slots[at] ?? 0) - 1;
      if (row < 0 || same(row)) return row;
    }
  }

  /** Add a row that is not there yet. */
  add(hash: number, row: number): void {
    if (++this.#used > this.#slots.length * FULL) this.#resize(this.#slots.length * 2);
    this.#put(hash, row);
  }

  #put(hash: number, row: number): void {
    const mask = this.#slots.length - 1;
    let at = spread(hash) & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = row + 1;
  }

  /** What `restore` takes back, in a copy. */
  copy(): Uint8Array {
    return new Uint8Array(this.#slots.slice().buffer);
  }

  /**
   * Take slots as they were with the rows `from` ≤ row < `to`, in place of adding each.
   * @param bytes  memory that is theirs from now on
   * @throws RangeError  no slots of just so many of these rows
   */
  restore(bytes: Uint8Array, from: number, to: number): void {
    if (bytes.length % 4 !== 0 || bytes.length < 256 || (bytes.length & (bytes.length - 1)) !== 0)
      throw new RangeError(`${bytes.length} bytes are no slots`);
    const slots = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    let used = 0;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] ?? 0;
      if (slot === 0) continue;
      if (slot <= from || slot > to) throw new RangeError(`a slot names row ${slot - 1}`);
      used++;
    }
    if (used !== to - from || used > slots.length * FULL)
      throw new RangeError(`${used} slots of ${to - from} rows`);
    this.#slots = slots;
    this.#used = used;
  }

  /** Make room for so many more, at once. */
  reserve(rows: number): void {
    let slots = this.#slots.length;
    while (this.#used + rows > slots * FULL) slots *= 2;
    this.#resize(slots);
  }

  #resize(slots: number): void {
    const before = this.#slots;
    if (slots === before.length) return;
    this.#slots = new Uint32Array(slots);
    for (const slot of before) if (slot !== 0) this.#put(this.#hashOf(slot - 1), slot - 1);
  }
}

/** High bits count too. */
const spread = (hash: number) => hash ^ (hash >>> 15);
