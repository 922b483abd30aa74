/**
 * An inverted index over documents that come and go: terms to documents with a weight each.
 * A removed document leaves dead postings behind; every `put` sweeps a few, so that neither a write nor the
 * memory grows with the number of writes. Knows nothing of notes or ranking.
 * Invariant: what is told of a term holds live documents only.
 */
const WEIGHT_MAX = 255;
const WEIGHT_BASE = 256;
/** Postings looked at per `put` while sweeping. */
const SWEEP_STEP = 2_000;
const SWEEP_AFTER_DEAD = 256;
const UNSORTED_MAX = 4_096;

export class Postings {
  /** A posting is `doc * 256 + weight`; a term with one posting holds it bare. */
  readonly #terms = new Map<string, number | number[]>();
  readonly #live = new Set<number>();
  #nextDoc = 0;
  #dead = 0;
  #sweep: { readonly terms: Iterator<string>; readonly deadThen: number } | null = null;
  #sorted: string[] = [];
  #unsorted: string[] = [];

  get size(): number {
    return this.#live.size;
  }

  /** Add a document by its weights (≥ 1, kept up to 255). @returns its number, never given again */
  put(weights: ReadonlyMap<string, number>): number {
    const doc = this.#nextDoc++;
    this.#live.add(doc);
    for (const [term, weight] of weights) this.#push(term, doc * WEIGHT_BASE + Math.min(WEIGHT_MAX, weight));
    this.#sweepSome();
    return doc;
  }

  remove(doc: number): void {
    if (this.#live.delete(doc)) this.#dead += 1;
  }

  #push(term: string, posting: number): void {
    const known = this.#terms.get(term);
    if (known === undefined) {
      this.#terms.set(term, posting);
      this.#unsorted.push(term);
    } else if (typeof known === "number") {
      if (this.#isLive(known)) this.#terms.set(term, [known, posting]);
      else this.#terms.set(term, posting);
    } else known.push(posting);
  }

  #isLive(posting: number): boolean {
    return this.#live.has(Math.floor(posting / WEIGHT_BASE));
  }

  #sweepSome(): void {
    if (this.#sweep === null) {
      if (this.#dead < SWEEP_AFTER_DEAD + this.#live.size / 4) return;
      this.#sweep = { terms: this.#terms.keys(), deadThen: this.#dead };
    }
    for (let budget = SWEEP_STEP; budget > 0; ) {
      const next = this.#sweep.terms.next();
      if (next.done) {
        this.#dead -= this.#sweep.deadThen;
        this.#sweep = null;
        return;
      }
      budget -= this.#sweepTerm(next.value);
    }
  }

  #sweepTerm(term: string): number {
    const postings = this.#terms.get(term);
    if (postings === undefined) return 1;
    const list = typeof postings === "number" ? [postings] : postings;
    const kept = list.filter((posting) => this.#isLive(posting));
    const [only] = kept;
    if (only === undefined) this.#terms.delete(term);
    else if (kept.length < list.length) this.#terms.set(term, kept.length === 1 ? only : kept);
    return list.length;
  }

  /** Call `each` for every document of a term. */
  of(term: string, each: (doc: number, weight: number) => void): void {
    const postings = this.#terms.get(term);
    if (postings === undefined) return;
    for (const posting of typeof postings === "number" ? [postings] : postings) {
      const doc = Math.floor(posting / WEIGHT_BASE);
      if (this.#live.has(doc)) each(doc, posting % WEIGHT_BASE);
    }
  }

  /** How many documents a term has, or a little more: dead ones may count. @cost O(1) */
  atMost(term: string): number {
    const postings = this.#terms.get(term);
    return postings === undefined ? 0 : typeof postings === "number" ? 1 : postings.length;
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
