/**
 * Words of many documents in a few arrays that never change: terms sorted, and for each the documents that hold it
 * as differences, some two bytes each. A document only dies. As bytes they can be kept in a file.
 */
import type { EachDoc, WordSource } from "./word-source.ts";

/** What is kept. Lists: for each document, in rising order, twice the step from the one before, and 1 where a
 * weight other than 1 follows in a byte; numbers in groups of seven bits, the lowest first. */
export interface FrozenArrays {
  /** By document. */
  readonly keys: Uint32Array;
  readonly versions: Uint32Array;
  /** Twice the length, and 1 where a word was cut. */
  readonly lengths: Uint32Array;
  /** By term: ends of its text (UTF-8, sorted by UTF-16 units) and of its list. */
  readonly termEnds: Uint32Array;
  readonly listEnds: Uint32Array;
  readonly terms: Buffer;
  readonly lists: Buffer;
}

export class FrozenWords implements WordSource {
  readonly arrays: FrozenArrays;
  readonly #live: Uint8Array;
  #dead: number;

  /** @param lives  whether a document still stands for what it was made of */
  constructor(arrays: FrozenArrays, lives: (doc: number) => boolean) {
    this.arrays = arrays;
    this.#live = new Uint8Array(arrays.keys.length);
    this.#dead = arrays.keys.length;
    for (let doc = 0; doc < this.#live.length; doc++) {
      if (!lives(doc)) continue;
      this.#live[doc] = 1;
      this.#dead--;
    }
  }

  /** How many documents there are, dead ones too. */
  get size(): number {
    return this.arrays.keys.length;
  }
  get dead(): number {
    return this.#dead;
  }
  isLive(doc: number): boolean {
    return this.#live[doc] === 1;
  }

  remove(doc: number): void {
    if (!this.isLive(doc)) return;
    this.#live[doc] = 0;
    this.#dead++;
  }

  of(term: string, each: EachDoc): void {
    const { keys, lengths } = this.arrays;
    this.postings(this.#find(term), (doc, weight) => {
      if (this.#live[doc] === 1) each(keys[doc] ?? 0, weight, (lengths[doc] ?? 0) >>> 1);
    });
  }

  /** Every posting of a term by its number, dead documents too. */
  postings(term: number, each: (doc: number, weight: number) => void): void {
    const { lists, listEnds } = this.arrays;
    const end = listEnds[term] ?? 0;
    let at = term > 0 ? (listEnds[term - 1] ?? 0) : 0;
    for (let doc = -1; at < end; ) {
      let step = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = lists[at++] ?? 0;
        step |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      doc += step >>> 1;
      each(doc, (step & 1) === 0 ? 1 : (lists[at++] ?? 1));
    }
  }

  /** The length of its list in bytes: one at least for each document. */
  atMost(term: string): number {
    const { listEnds } = this.arrays;
    const number = this.#find(term);
    return (listEnds[number] ?? 0) - (number > 0 ? (listEnds[number - 1] ?? 0) : 0);
  }

  *startingWith(prefix: string): Generator<string> {
    for (let term = this.#lowerBound(prefix); term < this.arrays.termEnds.length; term++) {
      const text = this.term(term);
      if (!text.startsWith(prefix)) return;
      yield text;
    }
  }

  *holding(part: string): Generator<string> {
    const { terms, termEnds } = this.arrays;
    const wanted = Buffer.from(part);
    for (let at = terms.indexOf(wanted); at >= 0; ) {
      const term = lowerBound(termEnds.length, (number) => (termEnds[number] ?? 0) <= at);
      const end = termEnds[term] ?? terms.length;
      const inside = at + wanted.length <= end;
      if (inside) yield this.term(term);
      at = terms.indexOf(wanted, inside ? end : at + 1);
    }
  }

  term(number: number): string {
    const { terms, termEnds } = this.arrays;
    return terms.toString("utf8", number > 0 ? termEnds[number - 1] : 0, termEnds[number]);
  }

  #find(term: string): number {
    const number = this.#lowerBound(term);
    return number < this.arrays.termEnds.length && this.term(number) === term ? number : -1;
  }

  #lowerBound(term: string): number {
    return lowerBound(this.arrays.termEnds.length, (number) => this.term(number) < term);
  }
}

/** The first number that isn't before, where all that are come first. */
function lowerBound(count: number, isBefore: (number: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
