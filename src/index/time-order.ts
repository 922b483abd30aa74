/**
 * Notes in the order of a time that each has (of its update, of its expiry): earliest first, ties by id from the last.
 * Put level when it is asked for, so that many changes cost one merge. Some 5 bytes a note.
 * Invariant: `numbers` holds every note that was added and not dropped, once.
 */

const MERGE_FROM = 64;
/** More changes than this are not let wait, or they would cost more than the order itself. */
const WAITING_MAX = 4_096;

export interface Keys {
  readonly timeMs: (note: number) => number;
  readonly id: (note: number) => string;
}

export class TimeOrder {
  readonly #keys: Keys;
  #numbers: Uint32Array;
  #length: number;
  readonly #added = new Set<number>();
  /** Notes that stand in the order as they were: at which place. */
  readonly #gone = new Map<number, { readonly timeMs: number; readonly id: string }>();

  /** @param sorted  notes that stand in order already; becomes the order's own */
  constructor(keys: Keys, sorted = new Uint32Array(0)) {
    this.#keys = keys;
    this.#numbers = sorted;
    this.#length = sorted.length;
  }

  add(note: number): void {
    this.#added.add(note);
    if (this.#added.size > WAITING_MAX) this.numbers();
  }

  /** Add very many at once. @param notes  none of which is there */
  fill(notes: readonly number[]): void {
    for (const note of notes) this.#added.add(note);
    this.numbers();
  }

  /** The keys still tell what they told when it was added. */
  drop(note: number): void {
    if (this.#added.delete(note)) return;
    this.#gone.set(note, { timeMs: this.#keys.timeMs(note), id: this.#keys.id(note) });
    if (this.#gone.size > WAITING_MAX) this.numbers();
  }

  /** @cost a shift for each change since the last call; one pass over all after many */
  numbers(): Uint32Array {
    if (this.#added.size + this.#gone.size > MERGE_FROM) this.#merge();
    else {
      for (const { timeMs, id } of this.#gone.values()) {
        const place = this.#placeOf(timeMs, id);
        this.#numbers.copyWithin(place, place + 1, this.#length--);
      }
      this.#gone.clear();
      for (const note of this.#added) {
        this.#room(this.#length + 1);
        const place = this.#placeOf(this.#keys.timeMs(note), this.#keys.id(note));
        this.#numbers.copyWithin(place + 1, place, this.#length++);
        this.#numbers[place] = note;
      }
    }
    this.#gone.clear();
    this.#added.clear();
    return this.#numbers.subarray(0, this.#length);
  }

  /** The notes whose time is at or before a moment. @cost as `numbers`, and a few looks */
  upTo(ms: number): Uint32Array {
    const all = this.numbers();
    return all.subarray(0, this.#countUpTo(all, ms));
  }

  /** The first time after a moment; Infinity: there is none. @cost as `upTo` */
  nextMs(afterMs: number): number {
    const all = this.numbers();
    const note = all[this.#countUpTo(all, afterMs)];
    return note === undefined ? Number.POSITIVE_INFINITY : this.#keys.timeMs(note);
  }

  #countUpTo(all: Uint32Array, ms: number): number {
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys.timeMs(all[middle] ?? 0) <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How an item of the order compares with a place: as it stood when it was put there. */
  #compare(note: number, timeMs: number, id: string): number {
    const stood = this.#gone.get(note);
    const byTime = (stood?.timeMs ?? this.#keys.timeMs(note)) - timeMs;
    if (byTime !== 0) return byTime;
    const own = stood?.id ?? this.#keys.id(note);
    return own < id ? 1 : own > id ? -1 : 0;
  }

  #placeOf(timeMs: number, id: string): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#numbers[middle] ?? 0, timeMs, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #room(length: number): void {
    if (length <= this.#numbers.length) return;
    const grown = new Uint32Array(Math.ceil(length * 1.25) + MERGE_FROM);
    grown.set(this.#numbers.subarray(0, this.#length));
    this.#numbers = grown;
  }

  #merge(): void {
    const kept = this.#numbers.subarray(0, this.#length).filter((note) => !this.#gone.has(note));
    const added = this.#sorted(Uint32Array.from(this.#added));
    this.#gone.clear();
    const merged = new Uint32Array(kept.length + added.length);
    let next = 0;
    let at = 0;
    for (const note of kept) {
      const { timeMs, id } = this.#keys;
      for (; next < added.length; next++) {
        const other = added[next] ?? 0;
        const later = timeMs(other) - timeMs(note) || (id(other) < id(note) ? 1 : -1);
        if (later > 0) break;
        merged[at++] = other;
      }
      merged[at++] = note;
    }
    merged.set(added.subarray(next), at);
    this.#numbers = merged;
    this.#length = merged.length;
  }

  /** By time, then by id: the times are sorted as plain numbers, and ids are only read where times are equal. */
  #sorted(notes: Uint32Array): Uint32Array {
    const times = Float64Array.from(notes, (note) => this.#keys.timeMs(note)).sort();
    const sorted = new Uint32Array(notes.length);
    const filled = new Uint32Array(notes.length);
    for (const note of notes) {
      const first = lowerBound(times, this.#keys.timeMs(note));
      sorted[first + (filled[first] ?? 0)] = note;
      filled[first] = (filled[first] ?? 0) + 1;
    }
    for (let first = 0; first < notes.length; first += filled[first] ?? 1) {
      const count = filled[first] ?? 0;
      if (count > 1) sorted.set(this.#byId(sorted.subarray(first, first + count)), first);
    }
    return sorted;
  }

  #byId(notes: Uint32Array): number[] {
    return Array.from(notes, (note) => ({ note, id: this.#keys.id(note) }))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .map(({ note }) => note);
  }
}

/** The first place in a sorted array whose number is not smaller. */
function lowerBound(sorted: Float64Array, wanted: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
