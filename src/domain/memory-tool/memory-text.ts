/**
 * The text of a memory as numbered lines, and the tool's two ways to change it. Pure.
 * A line end at the end of the text ends its last line and begins no other, so that the numbers shown are those
 * that `insert_line` and `view_range` mean.
 */
import { inStyleOf } from "../note-text.ts";
import { MemoryRefusal } from "./refusal.ts";
import { notThere } from "./replies.ts";

/** Lines without their line ends; an empty text has none. */
export function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const NUMBER_WIDTH = 6;

/** A line as the tool shows it: its number (from 1) in six columns, a tab, its text. */
export function numbered(line: string, number: number): string {
  return `${String(number).padStart(NUMBER_WIDTH)}\t${line}`;
}

/**
 * The lines that a `view_range` asks for, from 1, both included. More than there is is lowered to that; `-1` is
 * the last line.
 *
 * @throws MemoryRefusal  no line of the file is in the range
 */
export function rangeOf(
  given: readonly [number, number] | null,
  count: number,
): { readonly from: number; readonly to: number } {
  if (given === null || count === 0) return { from: 1, to: count };
  const from = Math.max(1, given[0]);
  const to = given[1] === -1 ? count : Math.min(given[1], count);
  if (from <= to) return { from, to };
  throw new MemoryRefusal(
    `Error: Invalid \`view_range\` parameter: [${given.join(", ")}]. It should be within the range of lines of the file: [1, ${count}]`,
  );
}

/** A changed text with the lines that are new in it, from 1, both included; without a new line the one at that place. */
export interface ChangedText {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Replace the only occurrence of a piece of text.
 *
 * @param path  for the refusals
 * @throws MemoryRefusal  it occurs never, or several times
 */
export function replaced(path: string, text: string, oldStr: string, newStr: string): ChangedText {
  const wanted = inStyleOf(text, oldStr, "\n");
  const places = wanted === "" ? [] : placesOf(text, wanted);
  const [at] = places;
  if (at === undefined) {
    throw notThere(path, oldStr);
  }
  if (places.length > 1) {
    const lines = [...new Set(places.map((place) => lineAt(text, place)))];
    throw new MemoryRefusal(
      `No replacement was performed. Multiple occurrences of old_str \`${oldStr}\` in lines: ${lines.join(", ")}. Please ensure it is unique`,
    );
  }
  const put = inStyleOf(text, newStr, "\n");
  const made = text.slice(0, at) + put + text.slice(at + wanted.length);
  return { text: made, from: lineAt(made, at), to: lineAt(made, at + put.replace(/\r?\n$/, "").length) };
}

function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) places.push(at);
  return places;
}

/** The number of the line that holds an offset. */
function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/**
 * Put text after a line; 0 puts it first. It becomes lines of its own, whether or not it ends in a line end.
 *
 * @throws MemoryRefusal  there is no such line
 */
export function inserted(text: string, line: number, given: string): string {
  const count = linesOf(text).length;
  if (line < 0 || line > count) {
    throw new MemoryRefusal(
      `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${count}]`,
    );
  }
  if (text === "") return given;
  const put = inStyleOf(text, given, "\n");
  const eol = inStyleOf(text, "\n", "\n");
  const at = startOfLine(text, line);
  const head = text.slice(0, at);
  const tail = text.slice(at);
  const before = head === "" || head.endsWith("\n") ? "" : eol;
  const isLast = tail === "" && before !== "";
  return head + before + (isLast || put.endsWith("\n") ? put : put + eol) + tail;
}

/** The offset after `lines` whole lines. */
function startOfLine(text: string, lines: number): number {
  let start = 0;
  for (let passed = 0; passed < lines; passed++) {
    const lineFeed = text.indexOf("\n", start);
    if (lineFeed < 0) return text.length;
    start = lineFeed + 1;
  }
  return start;
}
