/**
 * The forms in which a text lies in a repository, found and replaced in bytes: as it is, in both Unicode forms, escaped
 * as JSON and YAML escape it, in UTF-16, with other blanks and line ends between its words, cut off at the end of a
 * subject, and as a segment of a path. Base64 and other encodings are not known here.
 * Invariant: what was replaced holds the text in none of these forms.
 */
import { escapeSegment, unescapeSegment } from "../../domain/note-path.ts";

/** What stands where it was: a plain text to YAML, JSON and Markdown, which stars or brackets are not. */
const MASKS = ["(purged)", "(removed)", "-"] as const;
/** The same in a file's name that is not escaped. */
const NAME_MASK = "purged";
/** After so many rounds nothing stands in its place any more: then it can only become less. */
const MOST_ROUNDS = 8;

export interface Forms {
  holds(bytes: Buffer): boolean;
  /** Where it stands, bytes; of what is only escaped or in UTF-16 too. */
  ranges(bytes: Buffer): Range[];
  /** The same buffer when there is nothing to replace. */
  replace(bytes: Buffer): Buffer;
  /** As `replace`, also where a first line was cut inside of the text. */
  replaceMessage(bytes: Buffer): Buffer;
  /** A segment of a path. @param name raw bytes as latin1 */
  replaceName(name: string): string;
}

/** Words of the text, between which there may be other blanks. */
interface Pattern {
  readonly words: readonly Buffer[];
  /** Before each word but the first: the text has a line end there, so that blanks of every kind will do. */
  readonly lineEnds: readonly boolean[];
  readonly mask: Buffer;
  /** A code unit's bytes: 2 in UTF-16. */
  readonly unit: 1 | 2;
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

const ELLIPSIS = "…";
/** Of a cut text so much must be seen, or half of it. */
const CUT_CHARS = 8;
/** A slug of fewer characters is some word. */
const SLUG_CHARS = 6;
const SLUG_MAX_CHARS = 60;

/**
 * @param texts each of some bytes; the longest is replaced first
 * @param others texts that are replaced by others, such as ids that were made of them
 */
export function formsOf(texts: readonly string[], others: ReadonlyMap<string, string> = new Map()): Forms {
  const mask = maskFor(texts);
  const patterns = [
    ...texts.flatMap((text) => patternsOf(text, mask)),
    ...[...others].map(
      ([from, to]): Pattern => ({
        words: [Buffer.from(from)],
        lineEnds: [],
        mask: Buffer.from(to),
        unit: 1,
      }),
    ),
  ].sort((a, b) => lengthOf(b) - lengthOf(a));
  const flat = texts.map((text) => text.trim().split(/\s+/).join(" "));

  function replace(bytes: Buffer): Buffer {
    let now = bytes;
    // What is left may come together to the text again.
    for (let round = 0; ; round++) {
      const parts: Buffer[] = [];
      let from = 0;
      for (let at = first(now, 0, patterns); at !== null; at = first(now, from, patterns)) {
        parts.push(now.subarray(from, at.start));
        if (round < MOST_ROUNDS) parts.push(at.pattern.mask);
        from = at.end;
      }
      if (parts.length === 0) return now;
      now = Buffer.concat([...parts, now.subarray(from)]);
    }
  }

  return {
    holds: (bytes) => first(bytes, 0, patterns) !== null,
    ranges(bytes) {
      const found: Range[] = [];
      for (let at = first(bytes, 0, patterns); at !== null; at = first(bytes, at.end, patterns))
        found.push({ start: at.start, end: at.end });
      return found;
    },
    replace,
    replaceMessage: (bytes) => withoutCut(replace(bytes), flat, mask),
    replaceName: (name) => nameWithout(name, { texts, mask, replace }),
  };
}

/** One that doesn't hold a text itself. */
function maskFor(texts: readonly string[]): string {
  return MASKS.find((mask) => !texts.some((text) => mask.includes(text) || text.includes(mask))) ?? "";
}

function patternsOf(text: string, mask: string): Pattern[] {
  const forms = new Set([text, text.normalize("NFC"), text.normalize("NFD")]);
  const patterns: Pattern[] = [];
  const blanks = text.trim().match(/\s+/g) ?? [];
  const lineEnds = blanks.map((blank) => blank.includes("\n"));
  const add = (words: readonly string[], encode: (word: string) => Buffer = Buffer.from, unit: 1 | 2 = 1) =>
    patterns.push({ words: words.map((word) => encode(word)), lineEnds, mask: encode(mask), unit });
  for (const form of forms) {
    const words = form.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) continue;
    add(words);
    const escaped = words.map((word) => JSON.stringify(word).slice(1, -1));
    const quoted = words.map((word) => word.replaceAll("'", "''"));
    for (const other of [escaped, quoted]) if (other.some((word, i) => word !== words[i])) add(other);
    add(words, (word) => Buffer.from(word, "utf16le"), 2);
    add(words, bigEndian, 2);
  }
  return patterns;
}

const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16();

const lengthOf = ({ words }: Pattern) => words.reduce((sum, word) => sum + word.length, 0);

interface Found extends Range {
  readonly pattern: Pattern;
}

/** The leftmost place; of two at one place the longer pattern, since those come first. */
function first(bytes: Buffer, from: number, patterns: readonly Pattern[]): Found | null {
  let best: Found | null = null;
  for (const pattern of patterns) {
    const range = placeOf(bytes, from, pattern, best?.start ?? bytes.length);
    if (range !== null && (best === null || range.start < best.start)) best = { ...range, pattern };
  }
  return best;
}

function placeOf(
  bytes: Buffer,
  from: number,
  { words, lineEnds, unit }: Pattern,
  before: number,
): Range | null {
  const [head, ...rest] = words;
  if (head === undefined) return null;
  for (let start = bytes.indexOf(head, from); start >= 0 && start < before; ) {
    let end = start + head.length;
    const all = rest.every((word, i) => {
      const next = behindBlanks(bytes, end, unit, lineEnds[i] === true);
      if (next === end || !bytes.subarray(next, next + word.length).equals(word)) return false;
      end = next + word.length;
      return true;
    });
    if (all) return { start, end };
    start = bytes.indexOf(head, start + 1);
  }
  return null;
}

/** Blanks, and with line ends also those, the mark of a quotation, and the escapes of line ends and tabs. */
function behindBlanks(bytes: Buffer, from: number, unit: 1 | 2, lineEnds: boolean): number {
  const isBlank = (byte: number | undefined) =>
    byte === 0x20 || byte === 0x09 || (lineEnds && (byte === 0x0a || byte === 0x0d || byte === 0x3e));
  for (let at = from; ; ) {
    const [one, two] = [bytes[at], bytes[at + 1]];
    if (unit === 2) {
      if (!(isBlank(one) && two === 0) && !(one === 0 && isBlank(two))) return at;
      at += 2;
    } else if (isBlank(one)) at += 1;
    else if (lineEnds && one === 0x5c && [0x6e, 0x72, 0x74].includes(two ?? 0)) at += 2;
    else return at;
  }
}

/** A subject that ends in `…` after a part of the text. */
function withoutCut(bytes: Buffer, flat: readonly string[], mask: string): Buffer {
  const end = bytes.indexOf(0x0a);
  const line = bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
  if (!line.endsWith(ELLIPSIS)) return bytes;
  const kept = line.slice(0, -ELLIPSIS.length);
  const cut = Math.max(0, ...flat.map((text) => cutLength(kept, text)));
  if (cut === 0) return bytes;
  const shown = Buffer.from(`${kept.slice(0, kept.length - cut)}${mask}${ELLIPSIS}`);
  return end < 0 ? shown : Buffer.concat([shown, bytes.subarray(end)]);
}

/** How many characters at the end are a beginning of the text that tells it. */
function cutLength(kept: string, text: string): number {
  const least = Math.min(CUT_CHARS, Math.ceil(text.length / 2));
  for (let length = Math.min(text.length - 1, kept.length); length >= least; length--)
    if (kept.endsWith(text.slice(0, length).trimEnd())) return text.slice(0, length).trimEnd().length;
  return 0;
}

interface Naming {
  readonly texts: readonly string[];
  readonly mask: string;
  readonly replace: (bytes: Buffer) => Buffer;
}

function nameWithout(name: string, { texts, mask, replace }: Naming): string {
  const [, stem = name, ending = ""] = /^(.*?)(\.md)?$/s.exec(name) ?? [];
  const text = unescapeSegment(stem);
  if (text !== null) {
    const bytes = Buffer.from(text);
    const replaced = replace(bytes);
    if (replaced !== bytes) return `${escapeSegment(replaced.toString("utf8"))}${ending}`;
  }
  const cut = cutSegment(stem, texts, mask);
  if (cut !== null) return `${cut}${ending}`;
  const raw = Buffer.from(name, "latin1");
  const replaced = replace(raw);
  const plain = replaced === raw ? name : replaced.toString("latin1").replaceAll(mask || "\0", NAME_MASK);
  return texts.reduce(withoutSlug, plain);
}

/** An escaped text that was too long: its beginning, and a hash of all. */
function cutSegment(stem: string, texts: readonly string[], mask: string): string | null {
  const [, kept, mark] = /^((?:[a-z0-9.-]|_[0-9a-f]{2})+)(_x[a-z2-7]{20})$/.exec(stem) ?? [];
  if (kept === undefined || mark === undefined) return null;
  for (const text of texts) {
    const units = escapeSegment(`a${text}a`).slice(1, -1);
    if (units.includes("_x") || units === "") continue;
    if (kept.includes(units)) return kept.replaceAll(units, escapeSegment(mask)) + mark;
    const least = Math.ceil(units.length / 2);
    for (let length = units.length - 1; length >= least; length--)
      if (kept.endsWith(units.slice(0, length)))
        return kept.slice(0, kept.length - length) + escapeSegment(mask) + mark;
  }
  return null;
}

/** Words of a title as they stand in a file's name. */
function withoutSlug(name: string, text: string): string {
  const words =
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const slug = Buffer.from(words.join("-")).toString("latin1");
  if (slug.length < SLUG_CHARS) return name;
  const at = name.toLowerCase().indexOf(slug);
  if (at >= 0) return withoutSlug(name.slice(0, at) + NAME_MASK + name.slice(at + slug.length), text);
  const stem = name.replace(/\.md$/, "");
  if (stem.length < SLUG_MAX_CHARS) return name;
  const cut = cutLength(stem, slug);
  return cut === 0 ? name : `${stem.slice(0, stem.length - cut)}${NAME_MASK}${name.slice(stem.length)}`;
}
