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

/** A note's text may hold escape sequences that move the cursor or rename the window: none reaches a terminal. */
export const plain = (text: string): string =>
  stripVTControlCharacters(text).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");

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
