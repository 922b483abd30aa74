/**
 * Growing lists of numbers or bytes in one typed array each: no object a row, outside the heap, and a range of
 * them is bytes that can be written as they are. Knows nothing of what the numbers mean.
 * Invariant: a view of a range that is only ever appended to stays what it was, also when the list grows.
 */
const GROWTH = 1.125;
const FIRST_ITEMS = 64;

/** What can be kept in a file: append-only rows, as the machine holds them. */
export interface Rows {
  readonly length: number;
  /** Bytes of a row. */
  readonly size: number;
  /** The bytes of the rows `from` ≤ row < `to`; no copy. */
  bytes(from: number, to: number): Uint8Array;
  /** Add rows from such bytes. An empty list takes them over where it can: they are its own then. */
  append(bytes: Uint8Array): void;
}

type Over<T> = (buffer: ArrayBufferLike, from: number, rows: number) => T;
type Numbers = Uint8Array | Uint32Array | Float64Array;

class Column<T extends Numbers> implements Rows {
  #items: T;
  #length = 0;
  readonly #make: (size: number) => T;
  readonly #over: Over<T>;

  /** @param over  makes one that lies in memory that there is already */
  constructor(make: (size: number) => T, over: Over<T>) {
    this.#make = make;
    this.#over = over;
    this.#items = make(0);
  }

  get length(): number {
    return this.#length;
  }

  get size(): number {
    return this.#items.BYTES_PER_ELEMENT;
  }

  /** 0 where nothing was set. */
  at(row: number): number {
    return this.#items[row] ?? 0;
  }

  /** Set a row; rows between the end and this one become 0. */
  set(row: number, value: number): void {
    if (row >= this.#length) this.#grow(row + 1);
    this.#items[row] = value;
  }

  /** @returns the new row */
  push(value: number): number {
    const row = this.#length;
    this.#grow(row + 1);
    this.#items[row] = value;
    return row;
  }

  /** Make room for so many rows in all, at once. */
  reserve(rows: number): void {
    if (rows <= this.#items.length) return;
    const grown = this.#make(rows);
    grown.set(this.#items.subarray(0, this.#length));
    this.#items = grown;
  }

  /** The values of these rows, in a copy. */
  gather(rows: Uint32Array): Uint8Array {
    const items = this.#items;
    const copied = this.#make(rows.length);
    for (let i = 0; i < rows.length; i++) copied[i] = items[rows[i] ?? 0] ?? 0;
    return new Uint8Array(copied.buffer);
  }

  /** Set these rows from what `gather` gave. @throws RangeError  not as many values as rows */
  scatter(rows: Uint32Array, gathered: Uint8Array): void {
    const values = this.#make(rows.length);
    if (gathered.length !== values.byteLength) throw new RangeError(`no values for ${rows.length} rows`);
    new Uint8Array(values.buffer).set(gathered);
    let last = -1;
    for (let i = 0; i < rows.length; i++) last = Math.max(last, rows[i] ?? 0);
    if (last >= this.#length) this.#grow(last + 1);
    for (let i = 0; i < rows.length; i++) this.#items[rows[i] ?? 0] = values[i] ?? 0;
  }

  /** @throws RangeError  a value isn't below `bound` */
  mustBeBelow(bound: number): void {
    const items = this.#items;
    for (let row = 0; row < this.#length; row++)
      if (!((items[row] ?? 0) < bound)) throw new RangeError(`row ${row} is not below ${bound}`);
  }

  /** @throws RangeError  the values, each divided by `unit`, don't rise up to `last` */
  mustRiseTo(last: number, unit = 1): void {
    const items = this.#items;
    let before = 0;
    for (let row = 0; row < this.#length; row++) {
      const value = Math.floor((items[row] ?? 0) / unit);
      if (value < before) throw new RangeError(`row ${row} is below the one before`);
      before = value;
    }
    if (before !== last) throw new RangeError(`the rows rise to ${before}, not to ${last}`);
  }

  /** Forget rows at the start: the next one is row 0 from now on. Views of them stay what they were. */
  dropFirst(rows: number): void {
    const kept = this.#make(this.#length - rows);
    kept.set(this.#items.subarray(rows, this.#length));
    this.#items = kept;
    this.#length -= rows;
  }

  clear(): void {
    this.#items = this.#make(0);
    this.#length = 0;
  }

  bytes(from: number, to: number): Uint8Array {
    const { buffer, byteOffset, BYTES_PER_ELEMENT: size } = this.#items;
    return new Uint8Array(buffer, byteOffset + from * size, (to - from) * size);
  }

  append(bytes: Uint8Array): void {
    const size = this.#items.BYTES_PER_ELEMENT;
    const from = this.#length;
    if (bytes.length % size !== 0) throw new RangeError(`${bytes.length} bytes are no rows of ${size}`);
    const rows = bytes.length / size;
    if (from === 0 && bytes.byteOffset % size === 0) {
      this.#items = this.#over(bytes.buffer, bytes.byteOffset, rows);
      this.#length = rows;
      return;
    }
    this.#grow(from + rows);
    this.bytes(from, this.#length).set(bytes);
  }

  #grow(length: number): void {
    this.#length = length;
    if (length <= this.#items.length) return;
    const grown = this.#make(Math.max(FIRST_ITEMS, Math.ceil(length * GROWTH)));
    grown.set(this.#items);
    this.#items = grown;
  }
}

export type Flags = Column<Uint8Array>;
export type Counts = Column<Uint32Array>;
export type Reals = Column<Float64Array>;

/** A column of 0..255. */
export const flags = (): Flags =>
  new Column<Uint8Array>(
    (size) => new Uint8Array(size),
    (buffer, from, rows) => new Uint8Array(buffer, from, rows),
  );
/** A column of 0..2³²-1. */
export const counts = (): Counts =>
  new Column<Uint32Array>(
    (size) => new Uint32Array(size),
    (buffer, from, rows) => new Uint32Array(buffer, from, rows),
  );
/** A column of any numbers. */
export const reals = (): Reals =>
  new Column<Float64Array>(
    (size) => new Float64Array(size),
    (buffer, from, rows) => new Float64Array(buffer, from, rows),
  );

/** Bytes one after the other; a row is a byte. */
export class Bytes implements Rows {
  #held: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly size = 1;

  get length(): number {
    return this.#length;
  }

  /** The memory, with room behind its end; another one after the next change. */
  get held(): Buffer {
    return this.#held;
  }

  /** Make room at the end. @returns where it starts */
  extend(size: number): number {
    const from = this.#length;
    this.#length += size;
    if (this.#length > this.#held.length) {
      // An array buffer of its own, so that views of it are never of a pool that others write to.
      const grown = Buffer.from(new ArrayBuffer(Math.max(FIRST_ITEMS, Math.ceil(this.#length * GROWTH))));
      this.#held.copy(grown);
      this.#held = grown;
    }
    return from;
  }

  /** Give back room at the end that was not written. */
  shorten(size: number): void {
    this.#length -= size;
  }

  append(bytes: Uint8Array): void {
    if (this.#length === 0) {
      this.#held = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      this.#length = bytes.length;
      return;
    }
    const from = this.extend(bytes.length);
    this.#held.set(bytes, from);
  }

  /** As of a column. */
  dropFirst(size: number): void {
    const kept = Buffer.from(new ArrayBuffer(this.#length - size));
    this.#held.copy(kept, 0, size, this.#length);
    this.#held = kept;
    this.#length -= size;
  }

  bytes(from: number, to: number): Uint8Array {
    return this.#held.subarray(from, to);
  }
}

/** @throws RangeError  columns of one table that don't have as many rows */
export function mustBeLevel(length: number, columns: readonly { readonly length: number }[]): void {
  if (columns.some((column) => column.length !== length)) throw new RangeError(`not all have ${length} rows`);
}
