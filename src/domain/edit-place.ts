/**
 * Where an edit's text lies in a body, and when it lies nowhere, what is there that looks like it: whoever copied
 * the text wrongly gets the right one to copy.
 */

/** Line numbers count from 1 in the body. */
export interface NearText {
  readonly line: number;
  /** As it stands in the body. */
  readonly text: string;
}

const MOST_LINES = 20;
const MOST_CHARS = 2_000;
const MOST_WITHIN = 1_000;
/** Share of pairs of characters that two lines have in common. */
const LIKE = 0.5;

/**
 * Offsets at which a text begins in a body, also within itself; beyond the thousandth not within itself, since a
 * long text of one character would take minutes.
 * @param text not empty
 */
export function placesOf(body: string, text: string): number[] {
  const places: number[] = [];
  const step = () => (places.length < MOST_WITHIN ? 1 : text.length);
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + step())) places.push(at);
  return places;
}

/** The lines of the first of these places, each once. @param places rising */
export function linesOf(body: string, places: readonly number[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let from = 0;
  for (const place of places) {
    for (let at = body.indexOf("\n", from); at >= 0 && at < place; at = body.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    lines.add(line);
    if (lines.size === MOST_LINES) break;
  }
  return [...lines];
}

/**
 * What of a body a text was meant to be: the same but for blanks and line ends, else the line most like its longest one.
 * @returns null when nothing is like it
 * @cost linear in the body; some 50 ms for 256 KiB
 */
export function nearestText(body: string, text: string): NearText | null {
  const found = sameButBlanks(body, text) ?? likeliestLine(body, text);
  return found !== null && found.text.length <= MOST_CHARS ? found : null;
}

function sameButBlanks(body: string, text: string): NearText | null {
  const wanted = text.trim().replaceAll(/\s+/g, " ");
  if (wanted === "") return null;
  let flat = "";
  /** Where each character of `flat` stands in the body. */
  const places: number[] = [];
  for (const { 0: part, index } of body.matchAll(/\s+|\S+/g)) {
    const shown = /^\s/.test(part) ? " " : part;
    for (let i = 0; i < shown.length; i++) places.push(index + i);
    flat += shown;
  }
  const at = flat.indexOf(wanted);
  const [start, last] = [places[at], places[at + wanted.length - 1]];
  if (at < 0 || start === undefined || last === undefined) return null;
  return { line: linesOf(body, [start])[0] ?? 1, text: body.slice(start, last + 1) };
}

function likeliestLine(body: string, text: string): NearText | null {
  const longest = text.split(/\r?\n/).reduce((best, line) => (line.length > best.length ? line : best), "");
  const wanted = pairsOf(longest);
  let best: NearText | null = null;
  let most = LIKE;
  for (const [i, line] of body.split(/\r?\n/).entries()) {
    const pairs = pairsOf(line);
    let both = 0;
    for (const pair of pairs) if (wanted.has(pair)) both++;
    const share = both === 0 ? 0 : (2 * both) / (pairs.size + wanted.size);
    if (share <= most) continue;
    most = share;
    best = { line: i + 1, text: line };
  }
  return best;
}

/** Pairs of characters that stand side by side, in lower case and without blanks. */
function pairsOf(line: string): Set<string> {
  const flat = line.toLowerCase().replaceAll(/\s+/g, "");
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < flat.length; i++) pairs.add(flat.slice(i, i + 2));
  return pairs;
}
