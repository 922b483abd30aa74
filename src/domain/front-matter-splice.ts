/**
 * Changing keys of a front matter in place: only the lines of the keys that change are touched, in the
 * author's style. Invariant: the result, read again, holds exactly the wanted values, and the body's bytes
 * are the same; where that can't be had the change is refused.
 */
import { diffArrays } from "diff";
import type { Pair, YAMLSeq } from "yaml";
import { linesOf } from "./diff3.ts";
import {
  type FrontMatter,
  plainValue,
  readFrontMatter,
  Unreadable,
  type Value,
  YAML_OPTIONS,
} from "./front-matter.ts";
import { spliceSimple } from "./simple-block.ts";
import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from "./yaml-package.ts";
import { isList, type Quotes, scalarText, valueText } from "./yaml-text.ts";

/** Values by key; undefined removes a key. */
export type Patch = ReadonlyMap<string, Value | undefined>;
type Change = readonly [key: string, value: Value | undefined];

/**
 * Change keys in a text's front matter; a text without one gets a block with the patch's keys.
 *
 * @returns the new text; the same text when nothing changes
 * @throws Unreadable  the front matter can't be read, or can't be changed without touching more than asked
 */
export function splice(text: string, patch: Patch): string {
  const before = readFrontMatter(text);
  const wanted = new Map(before.data);
  const changes: Change[] = [];
  for (const [key, value] of patch) {
    if (value === undefined ? !wanted.has(key) : wanted.has(key) && same(wanted.get(key), value)) continue;
    changes.push([key, value]);
    if (value === undefined) wanted.delete(key);
    else wanted.set(key, value);
  }
  if (changes.length === 0) return text;
  const spliced = before.block === null ? withNewBlock(before, changes) : withinBlock(before, changes);
  verify(spliced, wanted, before.body);
  return spliced;
}

/** Deep equality of values; the order of a map's keys doesn't count. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (isList(a) || isList(b)) {
    return isList(a) && isList(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
  );
}

/** Equal keys with equal values, in any order. */
export function sameData(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && same(value, b.get(key)));
}

function verify(text: string, wanted: ReadonlyMap<string, Value>, body: string): void {
  const got = readFrontMatter(text);
  const ended = got.body === body || got.body === `\n${body}` || got.body === `\r\n${body}`;
  if (!sameData(got.data, wanted) || !ended) {
    throw new Unreadable("the front matter can't be changed without touching more than asked", null);
  }
}

/** A blank line after the block is never part of the body, so it may go before any body. */
function withNewBlock({ bom, body, eol }: FrontMatter, changes: readonly Change[]): string {
  const lines = changes.flatMap(([key, value]) =>
    value === undefined ? [] : [`${lineOf(key, value)}${eol}`],
  );
  return `${bom}---${eol}${lines.join("")}---${eol}${body === "" ? "" : eol}${body}`;
}

/** A key with its value on a line of its own, without the line's end. */
export function lineOf(key: string, value: Value): string {
  return `${scalarText(key)}: ${valueText(value)}`;
}

function withinBlock(before: FrontMatter, changes: readonly Change[]): string {
  const { bom, open, block, close, body, eol } = before;
  const source = block ?? "";
  const old = source.replaceAll("\r\n", "\n");
  let lines = old;
  for (const [key, value] of changes) lines = spliceSimple(lines, key, value) ?? spliceKey(lines, key, value);
  return (
    bom + open + (source === old && eol === "\n" ? lines : withLineEnds(source, lines, eol)) + close + body
  );
}

/** Lines that were there keep their line ends, also where a block mixes them; new ones get the file's. */
function withLineEnds(source: string, lines: string, eol: string): string {
  const bare = (line: string) => line.replace(/\r?\n$/, "");
  const before = linesOf(source);
  let [at, made] = [0, ""];
  for (const { added, removed, value } of diffArrays(before.map(bare), linesOf(lines).map(bare))) {
    if (removed) at += value.length;
    else if (added) made += value.map((line) => line + eol).join("");
    else for (const _ of value) made += before[at++];
  }
  return made;
}

interface Located {
  /** Offset of the key's first character, and where its text ends. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly pair: Pair;
}

function spliceKey(block: string, key: string, value: Value | undefined): string {
  const document = parseDocument(block, YAML_OPTIONS);
  const root = document.contents;
  const pairs = isMap(root) ? root.items : [];
  const found = pairs.map(locate).find((located) => located !== null && nameOf(located.pair) === key) ?? null;
  if (isMap(root) && root.flow)
    return spliceFlowRoot(block, found, key, value, root.range?.[1] ?? block.length);
  if (found === null) {
    if (value === undefined) return block;
    const first = pairs[0] === undefined ? null : locate(pairs[0]);
    const indent = first === null ? "" : (/[ ]*$/.exec(block.slice(0, first.keyStart))?.[0] ?? "");
    return `${block}${block === "" || block.endsWith("\n") ? "" : "\n"}${indent}${lineOf(key, value)}\n`;
  }
  return value === undefined ? removeKey(block, found) : replaceValue(block, found, value);
}

function locate(pair: Pair): Located | null {
  if (!isScalar(pair.key) || !pair.key.range) return null;
  return { keyStart: pair.key.range[0], keyEnd: pair.key.range[1], pair };
}

const nameOf = (pair: Pair) => (isScalar(pair.key) ? String(pair.key.value ?? "") : "");

/** What YAML calls white space; `\s` also has U+FEFF, which may be a value. */
const BLANK = /[ \t\r\n]/;

/** End of a value's own text, without comments and blank lines after it. */
function valueRange(block: string, located: Located): [number, number] {
  const { value } = located.pair;
  const colon = block.indexOf(":", located.keyEnd) + 1;
  const node = isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : null;
  const [start, end] = node?.range ?? [colon, colon];
  let last = Math.max(end, colon);
  while (last > colon && BLANK.test(block[last - 1] ?? "")) last--;
  return [Math.min(Math.max(start, colon), last), last];
}

function removeKey(block: string, located: Located): string {
  const lineStart = block.lastIndexOf("\n", located.keyStart - 1) + 1;
  if (block.slice(lineStart, located.keyStart).trim() !== "") {
    throw new Unreadable("a key shares its line and can't be removed alone", null);
  }
  const [, end] = valueRange(block, located);
  const lineEnd = block.indexOf("\n", end);
  return block.slice(0, lineStart) + (lineEnd < 0 ? "" : block.slice(lineEnd + 1));
}

function replaceValue(block: string, located: Located, value: Value): string {
  const [start, end] = valueRange(block, located);
  const node = located.pair.value;
  const colon = block.indexOf(":", located.keyEnd) + 1;
  if (start === end && !(isScalar(node) && node.type !== "PLAIN")) {
    return `${block.slice(0, colon)} ${valueText(value)}${block.slice(colon)}`;
  }
  if (isSeq(node) && isList(value) && value.length > 0) {
    return node.flow
      ? replaceFlowList(block, node, value, start, end)
      : replaceBlockList(block, node, value, end);
  }
  const onOneLine =
    (isScalar(node) && !node.type?.startsWith("BLOCK")) ||
    (isSeq(node) || isMap(node) ? node.flow === true : isAlias(node));
  if (onOneLine) {
    const gap = block[start - 1] === ":" ? " " : "";
    return block.slice(0, start) + gap + valueText(value, quotesOf(node)) + block.slice(end);
  }
  return `${block.slice(0, colon)} ${valueText(value)}${block.slice(end)}`;
}

function quotesOf(node: unknown): Quotes {
  if (!isScalar(node)) return "plain";
  return node.type === "QUOTE_DOUBLE" ? "double" : node.type === "QUOTE_SINGLE" ? "single" : "plain";
}

/** Items that stay keep their own text, with its quotes; the others are rendered. */
function itemTexts(
  list: YAMLSeq,
  value: readonly Value[],
  chunk: (i: number) => string | null,
  render: (item: Value) => string,
): string[] {
  const current = list.items.map(scalarValue);
  const used = new Set<number>();
  return value.map((item) => {
    const i = current.findIndex((candidate, at) => !used.has(at) && same(candidate, item));
    const kept = i < 0 ? null : chunk(i);
    if (kept === null) return render(item);
    used.add(i);
    return kept;
  });
}

/** As the reader takes it; undefined for what is rendered anew whenever the list changes. */
function scalarValue(item: unknown): Value | undefined {
  if (!isScalar(item) || item.anchor !== undefined || item.tag !== undefined) return undefined;
  const text = String(item.value ?? "");
  return item.type === "PLAIN" ? plainValue(text) : text;
}

function replaceFlowList(
  block: string,
  list: YAMLSeq,
  value: readonly Value[],
  start: number,
  end: number,
): string {
  const old = block.slice(start, end);
  if (/\n/.test(old) && /(?:^|\s)#/m.test(old)) {
    throw new Unreadable("a list with comments between its items can't be changed in place", null);
  }
  const pad = /^\[ +\S/.test(old) ? " " : "";
  const chunk = (i: number) => sourceOf(block, list.items[i]);
  const items = itemTexts(list, value, chunk, (item) => valueText(item, "plain", true));
  const comma = /,\S/.test(old) && !/, /.test(old) ? "," : ", ";
  return `${block.slice(0, start)}[${pad}${items.join(comma)}${pad}]${block.slice(end)}`;
}

function sourceOf(block: string, item: unknown): string | null {
  return isScalar(item) && item.range ? block.slice(item.range[0], item.range[1]) : null;
}

/** A chunk is an item's lines with the comment lines right above it, so that comments go with their item. */
function replaceBlockList(block: string, list: YAMLSeq, value: readonly Value[], end: number): string {
  const afterLine = (offset: number) => {
    const at = block.indexOf("\n", offset);
    return at < 0 ? block.length : at + 1;
  };
  const ranges = list.items.map((item) => (isNode(item) ? item.range : null) ?? null);
  const starts = ranges.map((range) => (range === null ? -1 : block.lastIndexOf("\n", range[0] - 1) + 1));
  const [first = -1] = starts;
  if (starts.includes(-1) || new Set(starts).size !== starts.length) {
    throw new Unreadable(
      "a list in the front matter is written in a way that can't be changed in place",
      null,
    );
  }
  const dash = /^[ ]*-[ ]+/.exec(block.slice(first))?.[0] ?? "- ";
  const stops = ranges.map((range, i) =>
    i === ranges.length - 1 ? afterLine(end) : afterLine(textEnd(block, range)),
  );
  const chunk = (i: number) => {
    const text = block.slice(i === 0 ? first : stops[i - 1], stops[i]);
    return text.endsWith("\n") ? text : `${text}\n`;
  };
  const items = itemTexts(list, value, chunk, (item) => `${dash}${valueText(item)}\n`);
  return block.slice(0, first) + items.join("") + block.slice(stops.at(-1));
}

function textEnd(block: string, range: readonly [number, number, number] | null): number {
  let end = range?.[1] ?? 0;
  while (end > 0 && BLANK.test(block[end - 1] ?? "")) end--;
  return end;
}

function spliceFlowRoot(
  block: string,
  found: Located | null,
  key: string,
  value: Value | undefined,
  end: number,
): string {
  if (value === undefined)
    throw new Unreadable("a front matter written as one {…} can't lose a key in place", 2);
  const text = valueText(value, "plain", true);
  if (found !== null) {
    const [start, stop] = valueRange(block, found);
    const gap = block[start - 1] === ":" ? " " : "";
    return block.slice(0, start) + gap + text + block.slice(stop);
  }
  const close = block.lastIndexOf("}", end);
  const kept = block.slice(0, close).trimEnd();
  const comma = /[{,]$/.test(kept) ? "" : ",";
  return `${kept}${comma} ${scalarText(key, "plain", true)}: ${text}${block.slice(kept.length)}`;
}
