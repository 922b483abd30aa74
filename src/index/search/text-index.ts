/**
 * The words of every note, for both ways to search: ranked, and literal (to narrow down what must be looked at).
 * The port `TextIndex` is all that search knows, so that another engine can stand behind it.
 * Invariant: `mayContain` leaves out no document in which the folded query occurs in one field.
 */
import { headings } from "../../domain/markdown.ts";
import { counts } from "../../lib/held/column.ts";
import { queryTokens, tokens } from "../../lib/text.ts";
import { type FrozenArrays, FrozenWords } from "./frozen-words.ts";
import { type MergedWords, mergeWords } from "./merge-words.ts";
import { NewWords } from "./new-words.ts";
import { rank, type Scored } from "./rank.ts";
import { joined, type WordSource } from "./word-source.ts";

interface TextDoc {
  readonly title: string;
  readonly tags: readonly string[];
  readonly body: string;
}

/** Documents have numbers of the caller's as keys. */
export interface TextIndex {
  /** Add or replace a document. @param version  what its words are read from, for `restore` */
  put(key: number, version: number, doc: TextDoc): void;
  remove(key: number): void;
  /**
   * Documents that match any word of the query, unsorted. Empty when the query has no word. Yields between words.
   * @param among  where those here are only some of many: how many there are, and their words on average
   */
  rank(
    query: string,
    among?: { readonly size: number; readonly averageLength: number },
  ): Generator<void, Scored[]>;
  /** Words of a document, weighted, on average. */
  readonly averageLength: number;
  /** Documents in which a folded text may occur literally; null: any. */
  mayContain(folded: string): Iterable<number> | null;
  /** Do some of what puts have left to do; `all`: also what could wait. @returns whether nothing is left to do */
  tidy(all?: boolean): boolean;
  /** What to keep in a file; the same arrays until they change. Null: nothing worth it. */
  readonly kept: FrozenArrays | null;
  /** Take what was kept. @param isCurrent  whether a key's words are still to be read from that version */
  restore(kept: FrozenArrays, isCurrent: (key: number, version: number) => boolean): void;
  has(key: number): boolean;
}

const FIELD_WEIGHT = { title: 3, tags: 2, heading: 2, body: 1 } as const;
const WORD_MAX_CHARS = 64;
/** Fewer postings than this are always worth gathering. */
const NARROW_MIN = 256;
/** What any heading that is underlined has; spares most bodies the look for headings. */
const SETEXT = /^ {0,3}(?:=+|-+)[ \t]*$/m;

/** Documents put or dead that are always worth waiting for, and the share of all that is. */
const UNTIDY_MIN = 1_024;
const UNTIDY_SHARE = 1 / 8;
/** Never worth a merge. */
const FEW = 64;
const TIDY_MS = 2;

/** Where a document is, in a place: its number, from 1 on, times the kinds, plus one of these. */
const KINDS = 4;
const FROZEN = 1;
const MERGING = 2;
const YOUNG = 3;

export class MemoryTextIndex implements TextIndex {
  #frozen: FrozenWords | null = null;
  #young = new NewWords();
  #merging: { readonly added: NewWords; readonly steps: Generator<void, MergedWords> } | null = null;
  /** By key. */
  readonly #places = counts();
  /** Documents with a word so long that the index holds only its start. */
  readonly #cut = new Set<number>();
  #size = 0;
  #totalLength = 0;

  put(key: number, version: number, doc: TextDoc): void {
    this.remove(key);
    const { weights, length, cut } = weigh(doc);
    this.#add(key, this.#young.put({ key, version, length, cut }, weights), YOUNG, length, cut);
  }

  #add(key: number, doc: number, kind: number, length: number, cut: boolean): void {
    this.#places.set(key, (doc + 1) * KINDS + kind);
    this.#size++;
    this.#totalLength += length;
    if (cut) this.#cut.add(key);
  }

  has(key: number): boolean {
    return this.#places.at(key) !== 0;
  }

  remove(key: number): void {
    const place = this.#places.at(key);
    if (place === 0) return;
    const doc = Math.floor(place / KINDS) - 1;
    this.#totalLength -= this.#lengthAt(place % KINDS, doc);
    this.#size--;
    this.#places.set(key, 0);
    this.#cut.delete(key);
    if (place % KINDS === FROZEN) this.#frozen?.remove(doc);
    else (place % KINDS === MERGING ? this.#merging?.added : this.#young)?.remove(doc);
  }

  #lengthAt(kind: number, doc: number): number {
    if (kind === FROZEN) return (this.#frozen?.arrays.lengths[doc] ?? 0) >>> 1;
    return (kind === MERGING ? this.#merging?.added : this.#young)?.doc(doc)?.length ?? 0;
  }

  get #words(): WordSource {
    return joined([this.#frozen, this.#merging?.added, this.#young].filter((source) => source != null));
  }

  get averageLength(): number {
    return this.#totalLength / Math.max(1, this.#size);
  }

  rank(
    query: string,
    { size, averageLength }: { readonly size: number; readonly averageLength: number } = {
      size: this.#size,
      averageLength: this.averageLength,
    },
  ): Generator<void, Scored[]> {
    return rank(query, { words: this.#words, size, averageLength, keysEnd: this.#places.length });
  }

  tidy(all = false): boolean {
    if (this.#merging === null) {
      const untidy = this.#young.size + (this.#frozen?.dead ?? 0);
      if (untidy < (all ? FEW : Math.max(UNTIDY_MIN, this.#size * UNTIDY_SHARE))) return true;
      const added = this.#young;
      this.#young = new NewWords();
      for (let doc = 0; doc < added.size; doc++) {
        const held = added.doc(doc);
        if (held) this.#places.set(held.key, (doc + 1) * KINDS + MERGING);
      }
      this.#merging = { added, steps: mergeWords(this.#frozen, added) };
    }
    const untilMs = performance.now() + TIDY_MS;
    while (performance.now() < untilMs) {
      const step = this.#merging.steps.next();
      if (!step.done) continue;
      this.#take(step.value);
      return false;
    }
    return false;
  }

  /** What was merged stands in for what it was made of; who died meanwhile is dead. */
  #take({ arrays, origins, frozenSize }: MergedWords): void {
    this.#merging = null;
    this.#frozen = new FrozenWords(arrays, (doc) => {
      const key = arrays.keys[doc] ?? 0;
      const origin = origins[doc] ?? 0;
      const place =
        origin < frozenSize ? (origin + 1) * KINDS + FROZEN : (origin - frozenSize + 1) * KINDS + MERGING;
      if (this.#places.at(key) !== place) return false;
      this.#places.set(key, (doc + 1) * KINDS + FROZEN);
      return true;
    });
  }

  get kept(): FrozenArrays | null {
    return this.#frozen?.arrays ?? null;
  }

  restore(kept: FrozenArrays, isCurrent: (key: number, version: number) => boolean): void {
    this.#frozen = new FrozenWords(kept, (doc) => {
      const key = kept.keys[doc] ?? 0;
      if (!isCurrent(key, kept.versions[doc] ?? 0)) return false;
      const length = kept.lengths[doc] ?? 0;
      this.#add(key, doc, FROZEN, length >>> 1, length % 2 === 1);
      return true;
    });
  }

  mayContain(folded: string): Iterable<number> | null {
    const words = this.#words;
    const terms = narrow(words, folded);
    if (terms === null) return null;
    const narrowed: string[] = [];
    let postings = 0;
    for (const term of terms) {
      narrowed.push(term);
      postings += words.atMost(term);
      // Gathering them would cost more than looking at every document.
      if (postings > Math.max(NARROW_MIN, this.#size)) return null;
    }
    const keys = new Set(this.#cut);
    for (const term of narrowed) {
      words.of(term, (key) => keys.add(key));
    }
    return keys;
  }
}

/** Terms of which any occurrence of the text contains one; null when no word narrows it down. */
function narrow(source: WordSource, folded: string): Iterable<string> | null {
  // Half a surrogate pair can be found inside a character that is a word.
  if (/\p{Cs}/u.test(folded)) return null;
  const words = queryTokens(folded);
  const startsInWord = words[0] !== undefined && folded.startsWith(words[0]);
  const last = words.at(-1);
  const endsInWord = last !== undefined && folded.endsWith(last);
  const whole = words.filter(
    (word, i) =>
      word.length < WORD_MAX_CHARS &&
      (isPair(word) || !((i === 0 && startsInWord) || (i === words.length - 1 && endsInWord))) &&
      !isOneCjk(word),
  );
  const rarest = whole.sort((a, b) => source.atMost(a) - source.atMost(b))[0];
  if (rarest !== undefined) return [rarest];
  const first = words[0];
  if (first === undefined || last === undefined) return null;
  // Every character of a CJK run starts a term.
  if (isOneCjk(last)) return source.startingWith(last);
  if (isOneCjk(first)) return source.startingWith(first);
  if (words.length > 1 && last.length < WORD_MAX_CHARS) return source.startingWith(last);
  return source.holding(first);
}

const ONE_CJK =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u30fc\u3099\u309a]$/u;
const isOneCjk = (word: string) => ONE_CJK.test(word);
const isPair = (word: string) => isOneCjk(String.fromCodePoint(word.codePointAt(0) ?? 0)) && !isOneCjk(word);

function weigh(doc: TextDoc): { weights: Map<string, number>; length: number; cut: boolean } {
  const weights = new Map<string, number>();
  let length = 0;
  let cut = false;
  const add = (text: string, weight: number) => {
    for (const term of tokens(text)) {
      weights.set(term, (weights.get(term) ?? 0) + weight);
      length += weight;
      if (term.length >= WORD_MAX_CHARS - 1) cut = true;
    }
  };
  add(doc.title, FIELD_WEIGHT.title);
  for (const tag of doc.tags) add(tag, FIELD_WEIGHT.tags);
  add(doc.body, FIELD_WEIGHT.body);
  // Headings are part of the body and were counted there once.
  if (doc.body.includes("#") || SETEXT.test(doc.body)) {
    for (const { text } of headings(doc.body)) add(text, FIELD_WEIGHT.heading - FIELD_WEIGHT.body);
  }
  return { weights, length, cut };
}
