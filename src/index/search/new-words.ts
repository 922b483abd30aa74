/**
 * Words of documents that were put lately: quick to add to, for a few thousand documents. Nothing is ever taken
 * out, a document only dies; the whole is merged into `FrozenWords` and dropped.
 */
import { counts, flags } from "../../lib/held/column.ts";
import type { EachDoc, WordSource } from "./word-source.ts";

const WEIGHT_MAX = 255;

export interface WordDoc {
  readonly key: number;
  /** What the words were read from, by a number of the caller's. */
  readonly version: number;
  /** Sum of all weights. */
  readonly length: number;
  /** Whether a word is so long that only its start is held. */
  readonly cut: boolean;
}

export class NewWords implements WordSource {
  readonly #terms = new Map<string, number>();
  /** By term: its newest posting, from 1 on, and how many it has. */
  readonly #newest = counts();
  readonly #sizes = counts();
  /** By posting: document, weight, and the term's posting before, from 1 on. */
  readonly #docs = counts();
  readonly #weights = flags();
  readonly #before = counts();
  readonly #held: WordDoc[] = [];
  readonly #dead = new Set<number>();

  /** How many documents were ever put. */
  get size(): number {
    return this.#held.length;
  }

  /** Add a document by its weights (≥ 1, kept up to 255). @returns its number, one more than the last */
  put(doc: WordDoc, weights: ReadonlyMap<string, number>): number {
    const number = this.#held.push(doc) - 1;
    for (const [name, weight] of weights) {
      let term = this.#terms.get(name);
      if (term === undefined) {
        term = this.#terms.size;
        this.#terms.set(name, term);
      }
      this.#docs.push(number);
      this.#weights.push(Math.min(WEIGHT_MAX, weight));
      this.#newest.set(term, this.#before.push(this.#newest.at(term)) + 1);
      this.#sizes.set(term, this.#sizes.at(term) + 1);
    }
    return number;
  }

  remove(doc: number): void {
    this.#dead.add(doc);
  }

  /** Null: it is dead. */
  doc(number: number): WordDoc | null {
    return this.#dead.has(number) ? null : (this.#held[number] ?? null);
  }

  of(term: string, each: EachDoc): void {
    this.postings(term, (number, weight) => {
      const doc = this.doc(number);
      if (doc) each(doc.key, weight, doc.length);
    });
  }

  /** Every posting of a term, the last document first, dead ones too. */
  postings(term: string, each: (doc: number, weight: number) => void): void {
    const number = this.#terms.get(term);
    if (number === undefined) return;
    for (let at = this.#newest.at(number); at > 0; at = this.#before.at(at - 1)) {
      each(this.#docs.at(at - 1), this.#weights.at(at - 1));
    }
  }

  atMost(term: string): number {
    const number = this.#terms.get(term);
    return number === undefined ? 0 : this.#sizes.at(number);
  }

  *startingWith(prefix: string): Generator<string> {
    for (const term of this.#terms.keys()) if (term.startsWith(prefix)) yield term;
  }

  *holding(part: string): Generator<string> {
    for (const term of this.#terms.keys()) if (term.includes(part)) yield term;
  }

  /** Every term, in no order. */
  terms(): Iterable<string> {
    return this.#terms.keys();
  }
}
