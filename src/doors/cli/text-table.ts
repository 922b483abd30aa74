/** Rows for a terminal: aligned by display width (CJK too), cut to its columns, plain where there is no colour. */
import { stripVTControlCharacters, styleText } from "node:util";
import type CliTable from "cli-table3";
import { late } from "../../lib/late.ts";
import type { Io } from "./host.ts";

const tables = late<typeof CliTable>("cli-table3");

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Text in a style where the terminal has colours. */
export const styled = (io: Pick<Io, "colour">, style: Style, text: string): string =>
  io.colour && text !== "" ? styleText(style, text, { validateStream: false }) : text;

/** Control characters but tab and line feed, and those that let a text read in another order than it is written. */
const ODD = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** A note's text may hold escape sequences that move the cursor or rename the window: none reaches a terminal. */
export const plain = (text: string): string => stripVTControlCharacters(text).replace(ODD, "");

/** JSON for a terminal: the same value, with what JSON itself lets through written as escapes. */
export const plainJson = (json: string): string =>
  json.replace(
    /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** As `plain`, on one line: what follows can't be passed off as another. */
export const plainLine = (text: string): string => plain(text).replace(/\s*[\n\u2028\u2029]\s*/g, " ");

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** A table without lines; the header in bold. Ends with LF; nothing at all without rows. */
export function table(
  io: Pick<Io, "colour">,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const Table = tables();
  const made = new Table({
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
  made.push(head.map((cell) => styled(io, "bold", cell)));
  for (const row of rows) made.push(row.map((cell) => plain(cell).replaceAll("\n", " ")));
  return `${made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

/** Cut to a number of columns, with an ellipsis. */
export function short(text: string, most: number): string {
  const characters = [...text];
  const widths = characters.map(width);
  if (widths.reduce((sum, one) => sum + one, 0) <= most) return text;
  let kept = 0;
  for (let left = most - 1; kept < characters.length; kept += 1) {
    left -= widths[kept] ?? 0;
    if (left < 0) break;
  }
  return `${characters.slice(0, kept).join("")}…`;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** Columns that one character takes. */
const width = (character: string): number =>
  /^[\p{M}\p{Cf}]$/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** `1 note`, `2 notes`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** `2026-11-30 10:15` of an ISO time. */
export const minute = (iso: string): string => iso.slice(0, 16).replace("T", " ");
