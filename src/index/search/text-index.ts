/**
 * The words of every note, for both ways to search: ranked, and literal (to narrow down what must be looked at).
 * The port `TextIndex` is all that search knows, so that another engine can stand behind it.
 * Invariant: `mayContain` leaves out no document in which the folded query occurs in one field.
 */
import { headings } from "../../domain/markdown.ts";
import { queryTokens, tokens } from "../../lib/text.ts";
import { Postings } from "./postings.ts";
import { rank, type Scored } from "./rank.ts";

interface TextDoc {
  readonly title: string;
  readonly tags: readonly string[];
  readonly body: string;
}

/** Documents have numbers of the caller's as keys. */
export interface TextIndex {
  /** Add or replace a document. */
  put(key: number, doc: TextDoc): void;
  remove(key: number): void;
  /** Documents that match any word of the query, unsorted. Empty when the query has no word. */
  rank(query: string): Scored[];
  /** Documents in which a folded text may occur literally; null: any. */
  mayContain(folded: string): Iterable<number> | null;
}

const FIELD_WEIGHT = { title: 3, tags: 2, heading: 2, body: 1 } as const;
const WORD_MAX_CHARS = 64;
/** Fewer postings than this are always worth gathering. */
const NARROW_MIN = 256;
/** What any heading that is underlined has; spares most bodies the look for headings. */
const SETEXT = /^ {0,3}(?:=+|-+)[ \t]*$/m;

export class MemoryTextIndex implements TextIndex {
  readonly #postings = new Postings();
  readonly #docs = new Map<number, { readonly key: number; readonly length: number }>();
  readonly #numbers = new Map<number, number>();
  /** Documents with a word so long that the index holds only its start. */
  readonly #cut = new Set<number>();
  #totalLength = 0;

  put(key: number, doc: TextDoc): void {
    this.remove(key);
    const { weights, length, cut } = weigh(doc);
    const number = this.#postings.put(weights);
    this.#docs.set(number, { key, length });
    this.#numbers.set(key, number);
    this.#totalLength += length;
    if (cut) this.#cut.add(key);
  }

  remove(key: number): void {
    const number = this.#numbers.get(key);
    if (number === undefined) return;
    this.#totalLength -= this.#docs.get(number)?.length ?? 0;
    this.#postings.remove(number);
    this.#docs.delete(number);
    this.#numbers.delete(key);
    this.#cut.delete(key);
  }

  rank(query: string): Scored[] {
    return rank(query, {
      postings: this.#postings,
      docs: this.#docs,
      averageLength: this.#totalLength / Math.max(1, this.#docs.size),
    });
  }

  mayContain(folded: string): Iterable<number> | null {
    const terms = this.#narrow(folded);
    if (terms === null) return null;
    const narrowed: string[] = [];
    let postings = 0;
    for (const term of terms) {
      narrowed.push(term);
      postings += this.#postings.atMost(term);
      // Gathering them would cost more than looking at every document.
      if (postings > Math.max(NARROW_MIN, this.#docs.size)) return null;
    }
    const keys = new Set(this.#cut);
    for (const term of narrowed) {
      this.#postings.of(term, (doc) => {
        const key = this.#docs.get(doc)?.key;
        if (key !== undefined) keys.add(key);
      });
    }
    return keys;
  }

  /** Terms of which any occurrence of the text contains one; null when no word narrows it down. */
  #narrow(folded: string): Iterable<string> | null {
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
    const rarest = whole.sort((a, b) => this.#postings.atMost(a) - this.#postings.atMost(b))[0];
    if (rarest !== undefined) return [rarest];
    const first = words[0];
    if (first === undefined || last === undefined) return null;
    // Every character of a CJK run starts a term.
    if (isOneCjk(last)) return this.#postings.startingWith(last);
    if (isOneCjk(first)) return this.#postings.startingWith(first);
    if (words.length > 1 && last.length < WORD_MAX_CHARS) return this.#postings.startingWith(last);
    return termsWith(this.#postings, first);
  }
}

function* termsWith(postings: Postings, part: string): Generator<string> {
  for (const term of postings.terms()) if (term.includes(part)) yield term;
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
