/**
 * Ranked search: BM25 over weighted words, any word counts, more words count more, the last word may be a start.
 * No text of a query is ever syntax. Pure over postings.
 */
import { isCjk, queryTokens } from "../../lib/text.ts";
import { wordForms } from "./word-forms.ts";
import type { WordSource } from "./word-source.ts";

export interface Scored {
  readonly key: number;
  /** 0..1 */
  readonly score: number;
}

interface Corpus {
  readonly words: WordSource;
  readonly size: number;
  readonly averageLength: number;
  /** Every key is smaller. */
  readonly keysEnd: number;
}

const K1 = 0.9;
const B = 0.4;
/** A word that only starts like the query's last counts for less than the word itself. */
const PREFIX_SHARE = 0.6;
/** So does another form of a word (`expires` for `expired`). */
const FORM_SHARE = 0.8;
/** BM25 sums have no bound; half of 1 stands for this many. */
const HALF_SCORE = 5;
const PREFIX_MIN_CHARS = 2;
/** Documents looked at in a step. */
const STEP = 8_192;
/** A start that fits more words than this says nothing. */
const PREFIX_MAX_TERMS = 256;
/** What a document keeps that matches the smallest part of the query; one that matches all keeps all. */
const COVERAGE_FLOOR = 0.5;

const STOP_WORDS = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its " +
    "me my no not of on or our should so than that the their them then there these they this to was we were " +
    "what when where which who why will with would you your"
  ).split(" "),
);

/** Words of a query that rank: without stop words, unless it has no others. Each once. */
export function rankingWords(query: string): string[] {
  const words = [...new Set(queryTokens(query))];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

/**
 * Score every document that holds a word of the query. Empty when the query has no word.
 * @returns yields between steps, so that others can have their turn
 */
export function* rank(
  query: string,
  { words: source, size, averageLength, keysEnd }: Corpus,
): Generator<void, Scored[]> {
  const words = rankingWords(query);
  const last = queryTokens(query).at(-1);
  const scores = new Float64Array(keysEnd);
  const matched = new Uint32Array(keysEnd);
  const found: number[] = [];
  const weights = new Weights(source, keysEnd);
  for (const word of words) {
    weights.look(word, word === last);
    const idf = Math.log(1 + (size - weights.keys.length + 0.5) / (weights.keys.length + 0.5));
    for (const [i, key] of weights.keys.entries()) {
      if (i % STEP === STEP - 1) yield;
      const tf = weights.take(key);
      const norm = K1 * (1 - B + (B * weights.lengthOf(key)) / Math.max(1, averageLength));
      if (matched[key] === 0) found.push(key);
      scores[key] = (scores[key] ?? 0) + (idf * tf * (K1 + 1)) / (tf + norm);
      matched[key] = (matched[key] ?? 0) + 1;
    }
    yield;
  }
  return found.map((key) => {
    const coverage = COVERAGE_FLOOR + ((1 - COVERAGE_FLOOR) * (matched[key] ?? 0)) / words.length;
    return { key, score: scaled((scores[key] ?? 0) * coverage) };
  });
}

/** To 0..1, in the same order. */
const scaled = (score: number) => score / (score + HALF_SCORE);

/** The documents of one word at a time, each with its best weight. */
class Weights {
  readonly #source: WordSource;
  readonly #weights: Float64Array;
  readonly #lengths: Uint32Array;
  /** The word's documents. */
  keys: number[] = [];

  constructor(source: WordSource, keysEnd: number) {
    this.#source = source;
    this.#weights = new Float64Array(keysEnd);
    this.#lengths = new Uint32Array(keysEnd);
  }

  /** Documents with the word or, for less, another form of it; of the query's last word also what it starts. */
  look(word: string, starts: boolean): void {
    this.keys = [];
    this.#add(word, 1);
    for (const form of wordForms(word)) this.#add(form, FORM_SHARE);
    if (starts) this.#addStarted(word);
  }

  /** The weight of a document, which is 0 from then on. */
  take(key: number): number {
    const weight = this.#weights[key] ?? 0;
    this.#weights[key] = 0;
    return weight;
  }

  lengthOf(key: number): number {
    return this.#lengths[key] ?? 0;
  }

  #add(term: string, share: number): void {
    this.#source.of(term, (key, weight, length) => {
      const before = this.#weights[key] ?? 0;
      if (before === 0) {
        this.keys.push(key);
        this.#lengths[key] = length;
      }
      if (weight * share > before) this.#weights[key] = weight * share;
    });
  }

  /** One CJK character starts the pairs that hold it. */
  #addStarted(word: string): void {
    const oneCjk = isCjk(word) && Array.from(word).length === 1;
    if (!oneCjk && (isCjk(word) || word.length < PREFIX_MIN_CHARS)) return;
    const terms: string[] = [];
    for (const term of this.#source.startingWith(word)) {
      if (terms.push(term) > PREFIX_MAX_TERMS && !oneCjk) return;
    }
    for (const term of terms) if (term !== word) this.#add(term, oneCjk ? 1 : PREFIX_SHARE);
  }
}
