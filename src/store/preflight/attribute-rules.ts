/**
 * gitattributes as Git reads it, as far as conversions of content go: which rule of which file decides an
 * attribute of a path. Pure: files are read, and judged, in `attribute-check.ts`.
 * @see gitattributes(5)
 */
import { nameOf } from "../../lib/slash-path.ts";

/** Where a rule stands, for messages. */
interface RuleSource {
  /** As shown to people. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
}

/** `true` set, `false` unset by `-name`, null back to unspecified by `!name`, else its value. */
type AttributeValue = string | boolean | null;
export type Assignment = readonly [name: string, value: AttributeValue];

export interface AttributeRule extends RuleSource {
  readonly matches: (path: string) => boolean;
  /** In the order of the line; a later one is the stronger. */
  readonly assigns: readonly Assignment[];
}

/** `[attr]` definitions by name; `binary` is Git's own. */
export type Macros = Map<string, readonly Assignment[]>;

export const gitMacros = (): Macros =>
  new Map([["binary", ["diff", "merge", "text"].map((name): Assignment => [name, false])]]);

const MAX_PATTERN = 2_048;

/** Git matches bytes: `?` takes one of several in `ä`. */
const bytesOf = (text: string) => Buffer.from(text).toString("latin1");

/** A pattern of gitignore's kind as a test of a path relative to the folder of its file. */
function pattern(text: string): (path: string) => boolean {
  if (text.endsWith("/") || text.startsWith("!") || text.length > MAX_PATTERN) return () => false;
  const anchored = text.includes("/");
  const expression = toExpression(bytesOf(text.replace(/^\//, "")));
  if (expression === null) return () => false;
  return (path) => expression.test(bytesOf(anchored ? path : nameOf(path)));
}

/** Each step takes one construct; in order of precedence. Null: Git takes it for no match. */
function toExpression(glob: string): RegExp | null {
  let out = "";
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const [take, made] = step(rest, at === 0 || glob[at - 1] === "/");
    if (take === 0) return null;
    out += made;
    at += take;
  }
  try {
    return new RegExp(`^${out}$`, "s");
  } catch {
    // A range such as [z-a] matches nothing.
    return null;
  }
}

function step(rest: string, atSegment: boolean): [taken: number, made: string] {
  if (atSegment && rest.startsWith("**/")) return [3, "(?:.*/)?"];
  if (atSegment && rest === "**") return [2, ".*"];
  const stars = /^\*+/.exec(rest)?.[0];
  if (stars !== undefined) return [stars.length, "[^/]*"];
  if (rest.startsWith("?")) return [1, "[^/]"];
  if (rest.startsWith("[")) {
    const set = /^\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/.exec(rest);
    if (set === null) return [0, ""];
    const body = (set[2] ?? "")
      .replace(/\[:(\w+):\]/g, (_, name: string) => CLASSES[name] ?? "")
      .replace(/\\([^\]\\^-])/g, "$1")
      .replace(/[[&~]|^\]/g, "\\$&");
    return [set[0].length, `(?!/)[${set[1] === "" ? "" : "^"}${body}]`];
  }
  const literal = rest.startsWith("\\") && rest.length > 1 ? rest.slice(1) : rest;
  const char = literal.charAt(0);
  return [literal === rest ? 1 : 2, char.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")];
}

const CLASSES: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  lower: "a-z",
  upper: "A-Z",
  space: "\\s",
  xdigit: "0-9a-fA-F",
};

function unquote(line: string): { readonly head: string; readonly rest: string } | null {
  if (!line.startsWith('"')) {
    const [head = "", rest = ""] = line.split(/[ \t]+(.*)/s);
    return { head, rest };
  }
  const found = /^"((?:\\.|[^"\\])*)"(.*)$/s.exec(line);
  if (found === null) return null;
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\" };
  const head = (found[1] ?? "").replace(/\\(.)/g, (whole, char: string) => escapes[char] ?? whole);
  return { head, rest: found[2] ?? "" };
}

function assignments(text: string): Assignment[] {
  return text.split(/[ \t\r]+/).flatMap((token): Assignment[] => {
    const [, sign, name = "", value] = /^([-!]?)([^=]+)(?:=(.*))?$/s.exec(token) ?? [];
    if (name === "") return [];
    return [[name, sign === "-" ? false : sign === "!" ? null : (value ?? true)]];
  });
}

/**
 * The rules of one file, in order; `[attr]` lines go into `macros`.
 * @param folder of the file, relative to the root, "" for the root and for files outside the tree
 */
export function parseAttributes(text: string, file: string, folder: string, macros: Macros): AttributeRule[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  return text.split("\n").flatMap((raw, index): AttributeRule[] => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return [];
    const macro = /^\[attr\]\s*(\S+)(.*)$/.exec(line);
    if (macro) {
      if (folder === "") macros.set(macro[1] ?? "", assignments(macro[2] ?? ""));
      return [];
    }
    const parts = unquote(line);
    if (parts === null) return [];
    const test = pattern(parts.head);
    const matches = (path: string) => path.startsWith(prefix) && test(path.slice(prefix.length));
    return [{ file, line: index + 1, matches, assigns: assignments(parts.rest) }];
  });
}

interface Decision {
  readonly value: AttributeValue;
  readonly rule: AttributeRule;
}

/**
 * Every attribute that is decided for a path, and the rule that decides it.
 * The strongest rule that names an attribute decides it; a macro counts only where it is itself decided as set.
 * @param rules from weakest to strongest
 */
export function decide(rules: readonly AttributeRule[], macros: Macros, path: string): Map<string, Decision> {
  const decided = new Map<string, Decision>();
  const apply = (assigns: readonly Assignment[], rule: AttributeRule) => {
    for (const [name, value] of assigns.toReversed()) {
      if (decided.has(name)) continue;
      decided.set(name, { value, rule });
      if (value === true) apply(macros.get(name) ?? [], rule);
    }
  };
  for (const rule of rules.toReversed()) if (rule.matches(path)) apply(rule.assigns, rule);
  return decided;
}
