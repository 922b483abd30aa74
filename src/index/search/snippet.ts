/** A short piece of a note's body that shows the hit with its surroundings. */
import { fold, foldWithOffsets } from "../../lib/text.ts";

const SNIPPET_MAX_CHARS = 240;
const CONTEXT_CHARS = 80;

/**
 * Cut a snippet.
 * @param needles  folded texts; the earliest occurrence of the first that occurs is shown, else the start
 * @returns one line, at most 240 UTF-16 units, `…` where something was cut off
 */
export function snippetOf(body: string, needles: readonly string[]): string {
  const hit = hitOf(body, needles);
  const start = hit <= CONTEXT_CHARS ? 0 : wordStart(body, hit - CONTEXT_CHARS);
  // Blanks shrink to one, so a window a few times as long fills the line.
  const window = SNIPPET_MAX_CHARS * 4;
  const text = body
    .slice(start, start + window)
    .replace(/\s+/gu, " ")
    .trimStart();
  const head = start > 0 ? "…" : "";
  const room = SNIPPET_MAX_CHARS - head.length;
  const whole = start + window >= body.length && text.trimEnd().length <= room;
  return whole ? head + text.trimEnd() : `${head}${wellCut(text, room - 1)}…`;
}

function hitOf(body: string, needles: readonly string[]): number {
  if (needles.length === 0) return 0;
  const folded = fold(body);
  for (const needle of needles) {
    const at = needle === "" ? -1 : folded.indexOf(needle);
    if (at < 0) continue;
    if (folded.length === body.length) return at;
    const exact = foldWithOffsets(body);
    return exact.offsets[exact.text.indexOf(needle)] ?? 0;
  }
  return 0;
}

/** The next start of a word at or after a place, within 20 characters; else the place, never inside a pair. */
function wordStart(text: string, at: number): number {
  const blank = text.slice(at, at + 20).search(/\s/);
  if (blank >= 0) return at + blank + 1;
  return isLow(text, at) ? at - 1 : at;
}

function wellCut(text: string, length: number): string {
  return text.slice(0, isLow(text, length) ? length - 1 : length).trimEnd();
}

function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
