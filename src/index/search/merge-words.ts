/**
 * Put words that are frozen and words that are new together, in steps between which others have their turn.
 * Documents that are dead when it begins are left out; who dies meanwhile is for the caller to know.
 */
import { Bytes, counts } from "../../lib/held/column.ts";
import type { FrozenArrays, FrozenWords } from "./frozen-words.ts";
import type { NewWords } from "./new-words.ts";

export interface MergedWords {
  readonly arrays: FrozenArrays;
  /** By document: the one that it was among the frozen, or, from `frozenSize` on, among the new. */
  readonly origins: Uint32Array;
  readonly frozenSize: number;
}

/** Postings and terms looked at in a step. */
const STEP = 4_096;

/** @returns yields between steps and returns what is merged @cost some 50 ns a posting */
export function* mergeWords(frozen: FrozenWords | null, added: NewWords): Generator<void, MergedWords> {
  const frozenSize = frozen?.size ?? 0;
  const docs = docsOf(frozen, added);
  const termEnds = counts();
  const listEnds = counts();
  const terms = new Bytes();
  const lists = new Bytes();
  let looked = 0;
  let last = -1;
  const write = (origin: number, weight: number) => {
    looked++;
    const doc = (docs.numbers[origin] ?? 0) - 1;
    if (doc < 0) return;
    let step = (doc - last) * 2 + (weight === 1 ? 0 : 1);
    last = doc;
    // A number takes five bytes at most, and the weight one.
    let at = lists.extend(6);
    const from = at;
    for (; step >= 128; step = Math.floor(step / 128)) lists.held[at++] = (step % 128) + 128;
    lists.held[at++] = step;
    if (weight !== 1) lists.held[at++] = weight;
    lists.shorten(6 - (at - from));
  };
  for (const { text, held } of allTerms(frozen, added)) {
    const from = lists.length;
    last = -1;
    if (frozen && held >= 0) frozen.postings(held, write);
    const young: number[] = [];
    added.postings(text, (doc, weight) => young.push(weight, doc));
    for (let i = young.length - 1; i > 0; i -= 2) write(frozenSize + (young[i] ?? 0), young[i - 1] ?? 1);
    if (lists.length > from) {
      terms.append(Buffer.from(text));
      termEnds.push(terms.length);
      listEnds.push(lists.length);
    }
    if (++looked < STEP) continue;
    looked = 0;
    yield;
  }
  const arrays = {
    keys: docs.keys,
    versions: docs.versions,
    lengths: docs.lengths,
    termEnds: Uint32Array.from({ length: termEnds.length }, (_, term) => termEnds.at(term)),
    listEnds: Uint32Array.from({ length: listEnds.length }, (_, term) => listEnds.at(term)),
    terms: exactly(terms),
    lists: exactly(lists),
  };
  return { arrays, origins: docs.origins, frozenSize };
}

/** In an array buffer of its own, without the room behind its end. */
function exactly(bytes: Bytes): Buffer {
  return Buffer.from(Uint8Array.from(bytes.bytes(0, bytes.length)).buffer);
}

/** The living documents, the frozen first: what is known of each, and by its earlier number, from 1 on, its own. */
function docsOf(frozen: FrozenWords | null, added: NewWords) {
  const frozenSize = frozen?.size ?? 0;
  const numbers = new Uint32Array(frozenSize + added.size);
  const origins: number[] = [];
  for (let doc = 0; doc < frozenSize; doc++) if (frozen?.isLive(doc)) numbers[doc] = origins.push(doc);
  for (let doc = 0; doc < added.size; doc++) {
    if (added.doc(doc)) numbers[frozenSize + doc] = origins.push(frozenSize + doc);
  }
  const of = (held: Uint32Array | undefined, ofAdded: (doc: number) => number) =>
    Uint32Array.from(origins, (origin) =>
      origin < frozenSize ? (held?.[origin] ?? 0) : ofAdded(origin - frozenSize),
    );
  return {
    numbers,
    origins: Uint32Array.from(origins),
    keys: of(frozen?.arrays.keys, (doc) => added.doc(doc)?.key ?? 0),
    versions: of(frozen?.arrays.versions, (doc) => added.doc(doc)?.version ?? 0),
    lengths: of(frozen?.arrays.lengths, (doc) => {
      const held = added.doc(doc);
      return held ? held.length * 2 + (held.cut ? 1 : 0) : 0;
    }),
  };
}

/** Terms of both, sorted, each once; `held`: its number among the frozen, or -1. */
function* allTerms(
  frozen: FrozenWords | null,
  added: NewWords,
): Generator<{ readonly text: string; readonly held: number }> {
  const young = [...added.terms()].sort();
  const count = frozen?.arrays.termEnds.length ?? 0;
  let next = 0;
  for (let held = 0; held < count; held++) {
    const text = frozen?.term(held) ?? "";
    for (; next < young.length && (young[next] ?? "") < text; next++)
      yield { text: young[next] ?? "", held: -1 };
    if (young[next] === text) next++;
    yield { text, held };
  }
  for (; next < young.length; next++) yield { text: young[next] ?? "", held: -1 };
}
