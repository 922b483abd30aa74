/**
 * An inverted index over documents that come and go: terms to documents with a weight each.
 * A removed document leaves dead postings behind; every `put` sweeps a few, so that neither a write nor the
 * memory grows with the number of writes. Knows nothing of notes or ranking.
 * Invariants: what is told of a term holds live documents only; a number is given again only when no posting
 * holds it any more.
 */
import { Slab } from "./slab.ts";

const WEIGHT_MAX = 255;
const WEIGHT_BASE = 256;
/** Postings looked at per `put` while sweeping. */
const SWEEP_STEP = 2_000;
const SWEEP_AFTER_DEAD = 256;
const UNSORTED_MAX = 4_096;

export class Postings {
  /** A posting is `doc * 256 + weight`, 32 bits: room for 16 million documents, living and dead. */
  readonly #slab = new Slab();
  /** Term to its list in the slab. */
  readonly #terms = new Map<string, number>();
  readonly #live = new Set<number>();
  #dead: number[] = [];
  readonly #free: number[] = [];
  #nextDoc = 0;
  #sweep: { readonly terms: Iterator<string>; readonly dead: readonly number[] } | null = null;
  #sorted: string[] = [];
  #unsorted: string[] = [];

  get size(): number {
    return this.#live.size;
  }

  /** Add a document by its weights (≥ 1, kept up to 255). @returns its number, until it is removed */
  put(weights: ReadonlyMap<string, number>): number {
    const doc = this.#free.pop() ?? this.#nextDoc++;
    this.#live.add(doc);
    for (const [term, weight] of weights) {
      const posting = doc * WEIGHT_BASE + Math.min(WEIGHT_MAX, weight);
      const list = this.#terms.get(term);
      if (list !== undefined) this.#slab.push(list, posting);
      else {
        this.#terms.set(term, this.#slab.start(posting));
        this.#unsorted.push(term);
      }
    }
    this.#sweepSome();
    return doc;
  }

  remove(doc: number): void {
    if (this.#live.delete(doc)) this.#dead.push(doc);
  }

  #isLive(posting: number): boolean {
    return this.#live.has(Math.floor(posting / WEIGHT_BASE));
  }

  #sweepSome(): void {
    if (this.#sweep === null) {
      if (this.#dead.length < SWEEP_AFTER_DEAD + this.#live.size / 4) return;
      this.#sweep = { terms: this.#terms.keys(), dead: this.#dead };
      this.#dead = [];
    }
    for (let budget = SWEEP_STEP; budget > 0; ) {
      const next = this.#sweep.terms.next();
      if (next.done) {
        // What was dead when the sweep began is in no list now.
        for (const doc of this.#sweep.dead) this.#free.push(doc);
        this.#sweep = null;
        return;
      }
      budget -= this.#sweepTerm(next.value);
    }
  }

  #sweepTerm(term: string): number {
    const list = this.#terms.get(term);
    if (list === undefined) return 1;
    const looked = this.#slab.length(list);
    if (this.#slab.keep(list, (posting) => this.#isLive(posting)) === 0) this.#terms.delete(term);
    return looked;
  }

  /** Call `each` for every document of a term. */
  of(term: string, each: (doc: number, weight: number) => void): void {
    const list = this.#terms.get(term);
    if (list === undefined) return;
    this.#slab.each(list, (posting) => {
      const doc = Math.floor(posting / WEIGHT_BASE);
      if (this.#live.has(doc)) each(doc, posting % WEIGHT_BASE);
    });
  }

  /** How many documents a term has, or a little more: dead ones may count. @cost O(1) */
  atMost(term: string): number {
    const list = this.#terms.get(term);
    return list === undefined ? 0 : this.#slab.length(list);
  }

  /** Terms that begin with a text, sorted. @cost a binary search and what is found */
  startingWith(prefix: string): string[] {
    this.#sort();
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? "") < prefix) low = middle + 1;
      else high = middle;
    }
    const found: string[] = [];
    for (let i = low; this.#sorted[i]?.startsWith(prefix); i++) found.push(this.#sorted[i] ?? "");
    for (const term of this.#unsorted) if (term.startsWith(prefix)) found.push(term);
    return [...new Set(found)].filter((term) => this.#terms.has(term)).sort();
  }

  /** Every term. */
  terms(): Iterable<string> {
    return this.#terms.keys();
  }

  #sort(): void {
    if (this.#unsorted.length <= UNSORTED_MAX) return;
    const added = this.#unsorted.sort();
    const merged: string[] = [];
    let next = 0;
    const take = (term: string) => {
      if (this.#terms.has(term) && merged.at(-1) !== term) merged.push(term);
    };
    for (const term of this.#sorted) {
      for (; next < added.length && (added[next] ?? "") < term; next++) take(added[next] ?? "");
      take(term);
    }
    for (; next < added.length; next++) take(added[next] ?? "");
    this.#sorted = merged;
    this.#unsorted = [];
  }
}
