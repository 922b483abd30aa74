/**
 * Records of bytes that come and go, in pages of a mebibyte outside the heap: written once, at the end of the
 * newest page; a page that is mostly dead gives its living records to the newest and goes.
 * Invariants: the memory stays under twice what lives, and a page; bytes that were handed out never change.
 */
const PAGE_BYTES = 1 << 20;
const FIRST_BYTES = 16 << 10;
/** A position counts these, so that 32 bits reach far enough. */
const UNIT_BYTES = 4;
const PAGE_UNITS = PAGE_BYTES / UNIT_BYTES;
const PAGES_MAX = 2 ** 32 / PAGE_UNITS;
/** Before each record: its owner, and how many bytes it has. */
const HEAD_BYTES = 8;

interface Page {
  held: Buffer;
  used: number;
  live: number;
  /** Given once: another page with the same number has another. */
  readonly serial: number;
}

/** A page as a file keeps it. */
export interface PageBytes {
  readonly page: number;
  readonly serial: number;
  readonly bytes: Uint8Array;
}

export class Pages {
  readonly #pages: (Page | null)[] = [];
  readonly #free: number[] = [];
  readonly #isAt: (owner: number, position: number) => boolean;
  readonly #moved: (owner: number, position: number) => void;
  #current = -1;
  #serials = 0;

  /**
   * @param isAt  whether an owner's record is the one at a position: the others are dead
   * @param moved  told when an owner's record lies elsewhere from now on
   */
  constructor(
    isAt: (owner: number, position: number) => boolean,
    moved: (owner: number, position: number) => void,
  ) {
    this.#isAt = isAt;
    this.#moved = moved;
  }

  /** Add a record. @param owner  32 bits @returns its position, 32 bits @throws RangeError  16 GiB are held */
  put(owner: number, bytes: Uint8Array): number {
    const size = sizeOf(bytes.length);
    const number = this.#room(size);
    const page = this.#at(number);
    const from = page.used;
    page.held.writeUInt32LE(owner, from);
    page.held.writeUInt32LE(bytes.length, from + UNIT_BYTES);
    page.held.set(bytes, from + HEAD_BYTES);
    page.used += size;
    page.live += size;
    return number * PAGE_UNITS + from / UNIT_BYTES;
  }

  /** The bytes at a position; they stay, whatever happens to the record. */
  read(position: number): Buffer {
    const { held } = this.#at(Math.floor(position / PAGE_UNITS));
    const from = (position % PAGE_UNITS) * UNIT_BYTES;
    return held.subarray(from + HEAD_BYTES, from + HEAD_BYTES + held.readUInt32LE(from + UNIT_BYTES));
  }

  /** The owner's record is elsewhere by now, or nowhere. @cost at times, copying half a page */
  drop(position: number): void {
    const number = Math.floor(position / PAGE_UNITS);
    const page = this.#at(number);
    page.live -= sizeOf(page.held.readUInt32LE((position % PAGE_UNITS) * UNIT_BYTES + UNIT_BYTES));
    if (number !== this.#current && page.live * 2 < page.used) this.#reclaim(number, page);
  }

  #reclaim(number: number, page: Page): void {
    this.#pages[number] = null;
    for (let from = 0; from < page.used; ) {
      const owner = page.held.readUInt32LE(from);
      const length = page.held.readUInt32LE(from + UNIT_BYTES);
      if (this.#isAt(owner, number * PAGE_UNITS + from / UNIT_BYTES)) {
        const start = from + HEAD_BYTES;
        this.#moved(owner, this.put(owner, page.held.subarray(start, start + length)));
      }
      from += sizeOf(length);
    }
    // Only now: no record may have moved to its own place.
    this.#free.push(number);
  }

  /** The page that takes a record of this size. */
  #room(size: number): number {
    while (!this.#fits(size)) {
      const sealed = this.#current;
      this.#open(size);
      const page = this.#pages[sealed];
      // What died while it was the newest was not looked at.
      if (page && page.live * 2 < page.used) this.#reclaim(sealed, page);
    }
    return this.#current;
  }

  /** Whether the newest page takes a record of this size, grown if need be. */
  #fits(size: number): boolean {
    const page = this.#pages[this.#current];
    if (!page || page.used + size > Math.max(PAGE_BYTES, page.held.length)) return false;
    if (page.used + size > page.held.length) {
      const grown = bufferOf(Math.min(PAGE_BYTES, Math.max(page.held.length * 2, page.used + size)));
      page.held.copy(grown, 0, 0, page.used);
      page.held = grown;
    }
    return true;
  }

  #open(size: number): void {
    const number = this.#free.pop() ?? this.#pages.length;
    if (number >= PAGES_MAX) throw new RangeError("the texts of an index take at most 16 GiB");
    const first = this.#pages.length === 0 ? FIRST_BYTES : PAGE_BYTES;
    this.#pages[number] = {
      held: bufferOf(Math.max(first, size)),
      used: 0,
      live: 0,
      serial: ++this.#serials,
    };
    this.#current = number;
  }

  #at(number: number): Page {
    const page = this.#pages[number];
    if (!page) throw new RangeError(`no page ${number}`);
    return page;
  }

  /** Every page, as far as it is written; no copy. */
  pages(): readonly PageBytes[] {
    return this.#pages.flatMap((page, number) =>
      page ? [{ page: number, serial: page.serial, bytes: page.held.subarray(0, page.used) }] : [],
    );
  }

  /** Take pages as `pages` told them. Nothing in them lives until `claim`. @throws RangeError  no such number */
  restore(pages: readonly { readonly page: number; readonly bytes: Buffer }[]): void {
    for (const { page, bytes } of pages) {
      if (!(Number.isSafeInteger(page) && page >= 0 && page < PAGES_MAX))
        throw new RangeError(`no page ${page}`);
      while (this.#pages.length < page) this.#pages.push(null);
      this.#pages[page] = { held: bytes, used: bytes.length, live: 0, serial: ++this.#serials };
    }
  }

  /** A record lives. @throws RangeError  the owner has none there */
  claim(position: number, owner: number): void {
    const page = this.#at(Math.floor(position / PAGE_UNITS));
    const from = (position % PAGE_UNITS) * UNIT_BYTES;
    const size = sizeOf(page.held.readUInt32LE(from + UNIT_BYTES));
    if (page.held.readUInt32LE(from) !== owner || from + size > page.used)
      throw new RangeError(`no record of ${owner} at ${position}`);
    page.live += size;
  }

  /** After the last `claim`: pages in which nothing lives go. */
  restored(): void {
    for (let number = 0; number < this.#pages.length; number++) {
      const page = this.#pages[number];
      if (page && page.live === 0) this.#pages[number] = null;
      if (!this.#pages[number]) this.#free.push(number);
    }
  }
}

const sizeOf = (length: number) => HEAD_BYTES + Math.ceil(length / UNIT_BYTES) * UNIT_BYTES;

/** An array buffer of its own: views of it outlive the page, and nothing else is written to it. */
const bufferOf = (size: number) => Buffer.from(new ArrayBuffer(size));
