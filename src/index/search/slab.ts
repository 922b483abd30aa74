/**
 * Many short lists of 32-bit numbers in one array: a list costs what it holds, rounded up to a power of two.
 * Knows nothing of what the numbers mean. Invariant: no two lists share a place, and freed places are used again.
 */
const GROWTH = 1.25;
const FIRST_WORDS = 1_024;

export class Slab {
  #words = new Uint32Array(FIRST_WORDS);
  #used = 0;
  /** By list: where it starts, how many it holds, and the power of two of its room. */
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #rooms: number[] = [];
  /** Starts of free places, by power of two. */
  readonly #free: number[][] = [];
  readonly #freeLists: number[] = [];

  /** Start a list with one number. @returns its handle */
  start(word: number): number {
    const list = this.#freeLists.pop() ?? this.#starts.length;
    this.#starts[list] = this.#take(0);
    this.#lengths[list] = 1;
    this.#rooms[list] = 0;
    this.#words[this.#starts[list] ?? 0] = word;
    return list;
  }

  length(list: number): number {
    return this.#lengths[list] ?? 0;
  }

  push(list: number, word: number): void {
    const length = this.#lengths[list] ?? 0;
    const room = this.#rooms[list] ?? 0;
    let start = this.#starts[list] ?? 0;
    if (length === 2 ** room) {
      const grown = this.#take(room + 1);
      this.#words.copyWithin(grown, start, start + length);
      this.#give(start, room);
      start = grown;
      this.#starts[list] = start;
      this.#rooms[list] = room + 1;
    }
    this.#words[start + length] = word;
    this.#lengths[list] = length + 1;
  }

  each(list: number, each: (word: number) => void): void {
    const start = this.#starts[list] ?? 0;
    const end = start + (this.#lengths[list] ?? 0);
    for (let i = start; i < end; i++) each(this.#words[i] ?? 0);
  }

  /** Drop the numbers that fail a test. @returns how many stay; at 0 the handle is given back */
  keep(list: number, stays: (word: number) => boolean): number {
    const start = this.#starts[list] ?? 0;
    const length = this.#lengths[list] ?? 0;
    let kept = 0;
    for (let i = 0; i < length; i++) {
      const word = this.#words[start + i] ?? 0;
      if (stays(word)) this.#words[start + kept++] = word;
    }
    this.#lengths[list] = kept;
    const room = this.#rooms[list] ?? 0;
    if (kept === 0) {
      this.#give(start, room);
      this.#freeLists.push(list);
    } else if (kept * 4 <= 2 ** room) this.#shrink(list, start, kept, room);
    return kept;
  }

  #shrink(list: number, start: number, kept: number, room: number): void {
    const smaller = Math.ceil(Math.log2(kept));
    const place = this.#take(smaller);
    this.#words.copyWithin(place, start, start + kept);
    this.#give(start, room);
    this.#starts[list] = place;
    this.#rooms[list] = smaller;
  }

  #take(room: number): number {
    const free = this.#free[room]?.pop();
    if (free !== undefined) return free;
    const start = this.#used;
    this.#used += 2 ** room;
    if (this.#used > this.#words.length) {
      const grown = new Uint32Array(Math.ceil(this.#used * GROWTH));
      grown.set(this.#words);
      this.#words = grown;
    }
    return start;
  }

  #give(start: number, room: number): void {
    const free = this.#free[room];
    if (free) free.push(start);
    else {
      while (this.#free.length < room) this.#free.push([]);
      this.#free[room] = [start];
    }
  }
}
