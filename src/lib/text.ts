/**
 * Text as search sees it: one fold for every comparison that ignores case, width and accents, and the
 * tokens that ranked search counts. Knows nothing of notes and nothing of any search engine's syntax.
 * Invariant: `foldWithOffsets(t).text === fold(t)`, and folding twice changes nothing.
 */

/** Where the full case folding of Unicode differs from lower(upper(c)); compared with CaseFolding by test. */
const FOLDS_OTHERWISE: Readonly<Record<string, string>> = { ı: "ı", ẞ: "ss" };

/**
 * Unicode's full case fold (CaseFolding C + F), code point by code point and free of locale.
 * Equals Python's `str.casefold`. Does not normalise.
 */
export function caseFold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let folded = "";
  for (const char of text) folded += foldCharCase(char);
  return folded;
}

function foldCharCase(char: string): string {
  const special = FOLDS_OTHERWISE[char];
  if (special !== undefined) return special;
  const upper = char.toUpperCase();
  // Cherokee alone folds to its capitals: they were in Unicode long before its small letters.
  if (/\p{Script=Cherokee}/u.test(char)) return upper;
  let folded = "";
  for (const part of upper) folded += part.toLowerCase();
  return folded;
}

/** Accents that search ignores: the combining blocks, Hebrew points, Arabic vowel marks. */
const DIACRITICS = new RegExp(
  "[\\u0300-\\u036f\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670" +
    "\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]",
  "gu",
);

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

const foldedChars = new Map<string, string>();
const FOLDED_CHARS_MAX = 20_000;

function foldChar(char: string): string {
  const known = foldedChars.get(char);
  if (known !== undefined) return known;
  const bare = caseFold(char).normalize("NFKD").replace(DIACRITICS, "");
  const folded = caseFold(bare).normalize("NFKC").replace(DIACRITICS, "");
  if (foldedChars.size < FOLDED_CHARS_MAX) foldedChars.set(char, folded);
  return folded;
}

/** What may fold to something else: capitals, and all but the scripts without case, accents or other widths. */
const MAY_FOLD = /[A-Z]+|[^\u0000-\u007f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]/gu;

/**
 * Fold for search: NFKC, full case fold, accents dropped; `ＡＰＩ` and `api`, `É` and `e` become equal.
 * @cost linear; ASCII text is only lowered
 */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .normalize("NFKC")
    .replace(MAY_FOLD, (some) => (some < "\u0080" ? some.toLowerCase() : foldChar(some)));
}

const JAMO = "\\u1100-\\u11ff\\u3130-\\u318f\\ua960-\\ua97f\\ud7b0-\\ud7ff\\uffa0-\\uffdc";
/**
 * Smallest pieces that normalise on their own: a character with its marks, or a syllable in parts. Marks are
 * bounded, or millions of them take the expression's whole stack.
 */
const PIECES = new RegExp(
  `[\\uac00-\\ud7a3][${JAMO}\\p{M}]*|[${JAMO}]+\\p{M}*|.[\\p{M}\\uff9e\\uff9f]{0,4096}`,
  "gsu",
);

interface FoldedText {
  readonly text: string;
  /** For each UTF-16 unit of `text`, where its piece starts in the source; one more entry for the end. */
  readonly offsets: Uint32Array;
}

/** Fold as `fold` does and remember where each folded unit came from, to cut snippets out of the source. */
export function foldWithOffsets(source: string): FoldedText {
  let text = "";
  const offsets: number[] = [];
  for (const match of source.matchAll(PIECES)) {
    const folded = fold(match[0]);
    for (let i = 0; i < folded.length; i++) offsets.push(match.index);
    text += folded;
  }
  offsets.push(source.length);
  return { text, offsets: Uint32Array.from(offsets) };
}

const CJK =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u30fc\\u3099\\u309a";
const runs = (times: string) => new RegExp(`[${CJK}]${times}|[[\\p{L}\\p{N}\\p{M}]--[${CJK}]]${times}`, "gv");
const RUNS = runs("+");
/** A run of millions of characters takes the expression's whole stack: longer texts are matched piece by piece. */
const SHORT_TEXT_CHARS = 512 << 10;
const PIECES_OF_RUNS = runs("{1,4096}");
const STARTS_CJK = new RegExp(`^[${CJK}]`, "u");
const WORD_MAX_CHARS = 64;

/** Whether a character belongs to a script that is written without blanks: Han, kana, Hangul, Bopomofo. */
export function isCjk(char: string): boolean {
  return STARTS_CJK.test(char);
}

/**
 * Tokens to index, in text order: folded words (cut at 64 characters) and, for each CJK run, its
 * overlapping pairs and then its last character alone. So every character starts some token, and a
 * one-character query is the prefix query `c*`.
 */
export function tokens(text: string): string[] {
  return tokenize(text, true);
}

/** Tokens of a query: as `tokens`, without the closing single character of a longer CJK run. */
export function queryTokens(query: string): string[] {
  return tokenize(query, false);
}

/** Words and CJK runs of a folded text, however long they are. */
function runsOf(text: string): Iterable<string> {
  return text.length <= SHORT_TEXT_CHARS ? (text.match(RUNS) ?? []) : joinedRuns(text);
}

function* joinedRuns(text: string): Iterable<string> {
  let start = 0;
  let end = 0;
  for (const { 0: piece, index } of text.matchAll(PIECES_OF_RUNS)) {
    const goesOn = index === end && end > start && isCjk(piece) === isCjk(text.slice(start, start + 2));
    if (!goesOn) {
      if (end > start) yield text.slice(start, end);
      start = index;
    }
    end = index + piece.length;
  }
  if (end > start) yield text.slice(start, end);
}

function tokenize(text: string, closeRuns: boolean): string[] {
  const found: string[] = [];
  for (const run of runsOf(fold(text))) {
    if (!isCjk(run)) {
      found.push(run.slice(0, WORD_MAX_CHARS));
      continue;
    }
    const chars = Array.from(run);
    for (let i = 0; i + 1 < chars.length; i++) found.push(`${chars[i]}${chars[i + 1]}`);
    const last = chars.at(-1);
    if (last !== undefined && (closeRuns || chars.length === 1)) found.push(last);
  }
  return found;
}
