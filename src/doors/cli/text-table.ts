/** Rows for a terminal: aligned by display width (CJK too), cut to its columns, plain where there is no colour. */
import { stripVTControlCharacters, styleText } from "node:util";
import Table from "cli-table3";
import type { Io } from "./host.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Text in a style where the terminal has colours. */
export const styled = (io: Pick<Io, "colour">, style: Style, text: string): string =>
  io.colour ? styleText(style, text, { validateStream: false }) : text;

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

/** Cut to a number of characters, with an ellipsis. */
export function short(text: string, most: number): string {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

/** `2026-11-30 10:15` of an ISO time. */
export const minute = (iso: string): string => iso.slice(0, 16).replace("T", " ");
