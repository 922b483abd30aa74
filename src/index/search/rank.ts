/**
 * Ranked search: BM25 over weighted words, any word counts, more words count more, the last word may be a start.
 * No text of a query is ever syntax. Pure over postings.
 */
import { isCjk, queryTokens } from "../../lib/text.ts";
import type { Postings } from "./postings.ts";
import { wordForms } from "./word-forms.ts";

export interface Scored {
  readonly key: number;
  /** 0..1 */
  readonly score: number;
}

interface Corpus {
  readonly postings: Postings;
  readonly docs: ReadonlyMap<number, { readonly key: number; readonly length: number }>;
  readonly averageLength: number;
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

/** Score every document that holds a word of the query. Empty when the query has no word. */
export function rank(query: string, corpus: Corpus): Scored[] {
  const words = rankingWords(query);
  const last = queryTokens(query).at(-1);
  const scores = new Map<number, { score: number; matched: number }>();
  for (const word of words) {
    const weights = word === last ? withPrefix(corpus.postings, word) : exact(corpus.postings, word);
    const idf = Math.log(1 + (corpus.docs.size - weights.size + 0.5) / (weights.size + 0.5));
    for (const [doc, tf] of weights) {
      const length = corpus.docs.get(doc)?.length ?? 0;
      const norm = K1 * (1 - B + (B * length) / Math.max(1, corpus.averageLength));
      const gain = (idf * tf * (K1 + 1)) / (tf + norm);
      const so = scores.get(doc);
      if (so) {
        so.score += gain;
        so.matched += 1;
      } else scores.set(doc, { score: gain, matched: 1 });
    }
  }
  const found: Scored[] = [];
  for (const [doc, { score, matched }] of scores) {
    const key = corpus.docs.get(doc)?.key;
    const coverage = COVERAGE_FLOOR + ((1 - COVERAGE_FLOOR) * matched) / words.length;
    if (key !== undefined) found.push({ key, score: scaled(score * coverage) });
  }
  return found;
}

/** To 0..1, in the same order. */
const scaled = (score: number) => score / (score + HALF_SCORE);

/** Documents with the word or, for less, another form of it. */
function exact(postings: Postings, word: string): Map<number, number> {
  const weights = new Map<number, number>();
  postings.of(word, (doc, weight) => weights.set(doc, weight));
  for (const form of wordForms(word)) atLeast(postings, weights, form, FORM_SHARE);
  return weights;
}

function atLeast(postings: Postings, weights: Map<number, number>, term: string, share: number): void {
  postings.of(term, (doc, weight) => weights.set(doc, Math.max(weights.get(doc) ?? 0, weight * share)));
}

/** The word and, for less, what it starts. One CJK character starts the pairs that hold it. */
function withPrefix(postings: Postings, word: string): Map<number, number> {
  const weights = exact(postings, word);
  const oneCjk = isCjk(word) && Array.from(word).length === 1;
  if (!oneCjk && (isCjk(word) || word.length < PREFIX_MIN_CHARS)) return weights;
  const terms = postings.startingWith(word);
  if (!oneCjk && terms.length > PREFIX_MAX_TERMS) return weights;
  for (const term of terms) {
    if (term === word) continue;
    atLeast(postings, weights, term, oneCjk ? 1 : PREFIX_SHARE);
  }
  return weights;
}
