/** What ranked and literal search ask of words, wherever they are held. */

/** Told of a document that lives: the caller's key for it, the term's weight in it (1..255), and its length. */
export type EachDoc = (key: number, weight: number, length: number) => void;

export interface WordSource {
  /** Call `each` for every document of a term. */
  of(term: string, each: EachDoc): void;
  /** How many documents a term has, or more. @cost none but finding the term */
  atMost(term: string): number;
  /** Terms that begin with a text, in no order. */
  startingWith(prefix: string): Iterable<string>;
  /** Terms that hold a text, in no order; some may have no document any more. */
  holding(part: string): Iterable<string>;
}

/** Several sources as one; no document is in two of them. */
export function joined(sources: readonly WordSource[]): WordSource {
  function* each(of: (source: WordSource) => Iterable<string>): Generator<string> {
    const met = new Set<string>();
    for (const source of sources) {
      for (const term of of(source)) {
        if (met.has(term)) continue;
        met.add(term);
        yield term;
      }
    }
  }
  return {
    of(term, told) {
      for (const source of sources) source.of(term, told);
    },
    atMost: (term) => sources.reduce((sum, source) => sum + source.atMost(term), 0),
    startingWith: (prefix) => each((source) => source.startingWith(prefix)),
    holding: (part) => each((source) => source.holding(part)),
  };
}
