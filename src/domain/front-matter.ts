/**
 * The block at the head of a note file: cut out byte for byte, then read as YAML with every value as it
 * is written. What the keys mean is `note-file.ts`; changing one of them is `front-matter-splice.ts`.
 * Invariant: `bom + open + block + close + body` is the text, and no text makes this run code or hang.
 */
import type Matter from "gray-matter";
import type { Node, Pair } from "yaml";
import { late } from "../lib/late.ts";
import { readSimple } from "./simple-block.ts";
import { isAlias, isMap, isScalar, isSeq, lineCounter, parseDocument } from "./yaml-package.ts";

const matter = late<typeof Matter>("gray-matter");

/** What a key holds. Numbers and booleans only where writing them again gives the same text. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** A file that can't be read as a note. `line` counts from 1 in the file, null when none is to blame. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
  readonly line: number | null;
  /** @param reason  for people and agents: of what the file holds only a few characters come through, as a quotation */
  constructor(reason: string, line: number | null) {
    super(bounded(reason));
    this.line = line;
  }
}

const QUOTED_MAX_CHARS = 40;
const REASON_MAX_CHARS = 200;

function bounded(reason: string): string {
  const short = reason
    .replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
      text.length > QUOTED_MAX_CHARS ? `${text.slice(0, QUOTED_MAX_CHARS)}…"` : text,
    )
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  return short.length > REASON_MAX_CHARS ? `${short.slice(0, REASON_MAX_CHARS)}…` : short;
}

interface SplitText {
  readonly bom: "" | "\ufeff";
  /** The opening line with its end; empty without front matter. */
  readonly open: string;
  /** Between the two lines; null: the file has no front matter. */
  readonly block: string | null;
  /** The closing line with its end, which may lack at the end of the file. */
  readonly close: string;
  readonly body: string;
  readonly eol: "\n" | "\r\n";
}

export interface FrontMatter extends SplitText {
  /** By key, in the file's order. Empty without front matter. */
  readonly data: ReadonlyMap<string, Value>;
}

const BLOCK_MAX_BYTES = 32 * 1024;
const DEPTH_MAX = 64;
const ALIASES_MAX = 50;
const NODES_MAX = 20_000;
/** gray-matter looks for comments with an expression that is quadratic in a run of blanks. */
const LONG_BLANKS = /\s{1024}/;

/**
 * Cut and read the front matter of a text.
 *
 * @param text  a whole file, decoded; a byte order mark is still its first character
 * @throws Unreadable  YAML errors, duplicate keys, another language than YAML, a limit exceeded
 * @cost linear; a block is at most 32 KiB, some 100 ms for hostile ones
 */
export function readFrontMatter(text: string): FrontMatter {
  const split = splitText(text);
  if (split.block === null || split.block.trim() === "") return { ...split, data: new Map() };
  const data = parseBlock(split.block);
  return data === null ? { ...withoutBlock(text, split), data: new Map() } : { ...split, data };
}

/** A line that can only be meant as a key: tells a broken block from prose between two rules. */
const KEY_LINE = /^(?:["']?[\p{L}_][\p{L}\p{N}_ -]{0,60}["']?\s*:(?:\s|$)|\{)/mu;

/**
 * Cut a text at its front matter, without reading it.
 * @throws Unreadable  a block in another language, or over 32 KiB
 */
export function splitText(text: string): SplitText {
  const bom = text.startsWith("\ufeff") ? "\ufeff" : "";
  const rest = text.slice(bom.length);
  const eol = /^[^\n]*\r\n/.test(rest) ? "\r\n" : "\n";
  const plain: SplitText = { bom, open: "", block: null, close: "", body: rest, eol };
  const open = /^---[ \t]*([A-Za-z][\w-]*)?[ \t]*\r?\n/.exec(rest);
  if (open === null) return plain;
  const start = open[0].length;
  // Not `^` with the m flag: that also matches after U+2028 and a lone carriage return.
  const closing = /\n(---[ \t]*(?:\r?\n|$))/g;
  closing.lastIndex = start - 1;
  const found = closing.exec(rest);
  if (found?.[1] === undefined) return plain;
  const close = found[1];
  const closeAt = found.index + 1;
  const block = rest.slice(start, closeAt);
  if (open[1] !== undefined && !/^ya?ml$/i.test(open[1])) {
    throw new Unreadable(`front matter in the language ${open[1]}; only YAML is read`, 1);
  }
  if (Buffer.byteLength(block) > BLOCK_MAX_BYTES) {
    if (!KEY_LINE.test(block.slice(0, BLOCK_MAX_BYTES))) return plain;
    throw new Unreadable(`front matter over ${BLOCK_MAX_BYTES} bytes`, 1);
  }
  return { bom, open: open[0], block, close, body: rest.slice(closeAt + close.length), eol };
}

function withoutBlock(text: string, { bom, eol }: SplitText): SplitText {
  return { bom, open: "", block: null, close: "", body: text.slice(bom.length), eol };
}

/**
 * Read a block. Null when it is prose between two rules and no mapping.
 * @throws Unreadable
 */
function parseBlock(block: string): ReadonlyMap<string, Value> | null {
  const lines = block.replace(/\r\n/g, "\n");
  // No line of a simple block begins with ---, is a comment, or has anything else that the library looks for.
  const simple = readSimple(lines, plainValue);
  if (simple !== null) return simple;
  if (LONG_BLANKS.test(lines)) throw new Unreadable("front matter with a long run of blanks", 2);
  let data: ReadonlyMap<string, Value> | null = new Map();
  const refuse = () => {
    throw new Unreadable("front matter in another language than YAML", 1);
  };
  const engine = {
    parse: (given: string) => {
      if (given.replace(/^\n/, "") !== lines.replace(/\n$/, "")) {
        throw new Unreadable("a line in the front matter begins with ---", 2);
      }
      data = parseYaml(lines);
      return {};
    },
  };
  // Options are always passed: without them gray-matter answers from a cache and may run JavaScript.
  const engines = { yaml: engine, json: refuse, javascript: refuse, coffee: refuse };
  matter()(`---\n${lines}${lines.endsWith("\n") ? "" : "\n"}---\n`, { language: "yaml", engines });
  return data;
}

/** Parse options of every YAML reading: all scalars stay text, and errors stay cheap on hostile input. */
export const YAML_OPTIONS = {
  version: "1.2",
  schema: "failsafe",
  // The library's own checks are quadratic in keys, or compile expressions as long as the error's line.
  uniqueKeys: false,
  prettyErrors: false,
  merge: false,
  logLevel: "silent",
} as const;

const tooDeep = (line: number) => new Unreadable(`front matter nested deeper than ${DEPTH_MAX}`, line);

function parseYaml(lines: string): ReadonlyMap<string, Value> | null {
  const counter = lineCounter();
  const document = parseDocument(lines, { ...YAML_OPTIONS, lineCounter: counter });
  const lineAt = (offset: number) => counter.linePos(offset).line + 1;
  const [error] = document.errors;
  // Where the parser runs out of stack depends on who called it; what the file is told must not.
  if (error !== undefined && /call stack/i.test(error.message)) throw tooDeep(2);
  if (error !== undefined) {
    if (!KEY_LINE.test(lines)) return null;
    throw new Unreadable(`not YAML: ${error.message.split("\n", 1)[0]}`, lineAt(error.pos[0]));
  }
  const root = document.contents;
  if (!isMap(root)) return null;
  return readMap(root, new Reader(document.contents, lineAt), 0);
}

/** What one reading of a document has spent, and where its anchors are. */
class Reader {
  readonly anchors = new Map<string, Node>();
  readonly lineAt: (offset: number) => number;
  aliases = 0;
  nodes = 0;
  constructor(root: unknown, lineAt: (offset: number) => number) {
    this.lineAt = lineAt;
    this.#collect(root, 0);
  }

  #collect(node: unknown, depth: number): void {
    if (depth > DEPTH_MAX) throw tooDeep(2);
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) {
      this.anchors.set(node.anchor, node);
    }
    if (isSeq(node)) for (const item of node.items) this.#collect(item, depth + 1);
    if (isMap(node)) for (const pair of node.items) this.#collect(pair.value, depth + 1);
  }
}

function readMap(node: { items: Pair[] }, reader: Reader, depth: number): Map<string, Value> {
  const read = new Map<string, Value>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw new Unreadable("front matter with a key that is no plain text", 2);
    const name = String(key.value ?? "");
    const line = reader.lineAt(key.range?.[0] ?? 0);
    if (read.has(name)) throw new Unreadable(`the key ${JSON.stringify(name)} stands twice`, line);
    if (name === "__proto__") throw new Unreadable("the key __proto__ is not allowed", line);
    read.set(name, readNode(value, reader, depth + 1, line));
  }
  return read;
}

function readNode(node: unknown, reader: Reader, depth: number, line: number): Value {
  if (depth > DEPTH_MAX) throw tooDeep(line);
  if (++reader.nodes > NODES_MAX) throw new Unreadable("front matter with too many values", line);
  if (node === null || node === undefined) return null;
  if (isAlias(node)) {
    if (++reader.aliases > ALIASES_MAX) throw new Unreadable(`more than ${ALIASES_MAX} aliases`, line);
    const target = reader.anchors.get(node.source);
    if (target === undefined) throw new Unreadable(`no anchor for the alias *${node.source}`, line);
    return readNode(target, reader, depth + 1, line);
  }
  if (isSeq(node)) return node.items.map((item) => readNode(item, reader, depth + 1, line));
  if (isMap(node)) return Object.fromEntries(readMap(node, reader, depth));
  if (!isScalar(node)) return null;
  const text = String(node.value ?? "");
  return node.type === "PLAIN" && node.tag === undefined ? plainValue(text) : text;
}

/** A plain scalar: only what can be written again exactly is more than text (`1.10`, `00123` and `yes` are text). */
export function plainValue(text: string): Value {
  if (text === "" || text === "~" || text === "null") return null;
  if (text === "true") return true;
  if (text === "false") return false;
  return /^-?\d/.test(text) && Number.isFinite(Number(text)) && String(Number(text)) === text
    ? Number(text)
    : text;
}
