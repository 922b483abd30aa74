/** What a rule for secrets is; the library's and ours are both made into this form. */

/** A secret in a text: which kind, and where its very characters lie. */
export interface Found {
  /** Short and stable: people and allow-lists name it. */
  readonly kind: string;
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export interface Rule {
  /** Literals in ASCII: every text in which the rule finds something has one of them. */
  readonly markers: readonly string[];
  /** Where they are common: found in every such text, and quickly. */
  readonly hint?: RegExp;
  find(text: string): Iterable<Found>;
}
