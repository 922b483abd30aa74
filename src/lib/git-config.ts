/**
 * Git's own config files, read and changed without Git. Values keep their order; the last one counts.
 * Not here: `includeIf` (who needs it asks native Git) and what any key means.
 * Invariant: a change touches the lines of its own key, and the head of a section that it empties, and no other byte.
 *
 * @see git-config(1), section "CONFIGURATION FILE"
 */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { errnoOf } from "./durable-file.ts";

/** One `key = value` with the lines that it takes. */
interface GitConfigEntry {
  /** `section.key` or `section.subsection.key`; section and key in lower case, the subsection as written. */
  readonly name: string;
  /** `true` in text for a key without `=`. */
  readonly value: string;
  /** 0-based, inclusive. */
  readonly firstLine: number;
  readonly lastLine: number;
}

const SECTION = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const KEY = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(=)?/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/**
 * Every entry of a config text, in order.
 * @throws SyntaxError naming the line that Git would refuse too
 */
export function parseGitConfig(text: string): GitConfigEntry[] {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  const entries: GitConfigEntry[] = [];
  let prefix: string | null = null;
  for (let at = 0; at < lines.length; at++) {
    let rest = (lines[at] ?? "").replace(/\r$/, "");
    const section = SECTION.exec(rest);
    if (section) {
      const name = (section[1] ?? "").toLowerCase();
      prefix = section[2] === undefined ? name : `${name}.${section[2].replace(/\\(.)/g, "$1")}`;
      rest = rest.slice(section[0].length);
    }
    if (/^\s*(?:[#;].*)?$/.test(rest)) continue;
    const key = KEY.exec(rest);
    if (!key || prefix === null) throw new SyntaxError(`bad config line ${at + 1}`);
    const firstLine = at;
    let raw = key[2] ? rest.slice(key[0].length) : null;
    let value = raw === null ? { text: "true", open: false } : unquote(raw);
    while (raw !== null && value.open && at + 1 < lines.length) {
      at += 1;
      raw = `${raw.slice(0, -1)}${(lines[at] ?? "").replace(/\r$/, "")}`;
      value = unquote(raw);
    }
    entries.push({
      name: `${prefix}.${(key[1] ?? "").toLowerCase()}`,
      value: value.text,
      firstLine,
      lastLine: at,
    });
  }
  return entries;
}

/** A raw value's text: quotes and escapes resolved, comment and outer blanks gone; open: it goes on below. */
function unquote(raw: string): { text: string; open: boolean } {
  let text = "";
  let kept = 0;
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i] ?? "";
    if (char === "\\") {
      if (i === raw.length - 1) return { text, open: true };
      i += 1;
      text += ESCAPES[raw[i] ?? ""] ?? raw[i];
      kept = text.length;
    } else if (char === '"') {
      quoted = !quoted;
      kept = text.length;
    } else if (!quoted && (char === "#" || char === ";")) {
      break;
    } else if (!quoted && /\s/.test(char)) {
      if (text !== "") text += char;
    } else {
      text += char;
      kept = text.length;
    }
  }
  return { text: text.slice(0, kept), open: false };
}

/**
 * Values by name from one file and what it includes by `include.path`; an absent file is empty.
 * @throws SyntaxError a line that is no config
 */
export async function readGitConfig(file: string, depth = 0): Promise<Map<string, string[]>> {
  const values = new Map<string, string[]>();
  const add = (name: string, more: readonly string[]) => {
    values.set(name, [...(values.get(name) ?? []), ...more]);
  };
  for (const { name, value } of parseGitConfig((await readOrNull(file)) ?? "")) {
    add(name, [value]);
    if (name !== "include.path" || depth >= 10) continue;
    const path = value.startsWith("~/") ? join(homedir(), value.slice(2)) : value;
    const included = await readGitConfig(isAbsolute(path) ? path : join(dirname(file), path), depth + 1);
    for (const [key, list] of included) add(key, list);
  }
  return values;
}

/**
 * Set keys of one config file (null removes one), as Git does it: through `<file>.lock`, then a rename.
 * A key that has the value already is left alone; when nothing changes the file is not touched.
 * @returns whether the file changed
 * @throws Error with code EEXIST when someone else is changing the file
 */
export async function setGitConfig(
  file: string,
  wanted: Readonly<Record<string, string | null>>,
): Promise<boolean> {
  const before = (await readOrNull(file)) ?? "";
  let text = before;
  for (const [name, value] of Object.entries(wanted)) text = setOne(text, name, value);
  if (text === before) return false;
  await mkdir(dirname(file), { recursive: true });
  const lock = await open(`${file}.lock`, "wx", 0o644);
  try {
    await lock.writeFile(text);
    await lock.datasync();
    await lock.close();
    await rename(`${file}.lock`, file);
  } catch (error) {
    await rm(`${file}.lock`, { force: true });
    throw error;
  }
  return true;
}

function setOne(text: string, name: string, value: string | null): string {
  const dot = name.lastIndexOf(".");
  const prefix = name.slice(0, dot);
  const wanted = `${prefix}.${name.slice(dot + 1).toLowerCase()}`;
  const entries = parseGitConfig(text);
  const same = entries.filter((entry) => entry.name === wanted);
  const last = same.at(-1);
  if (value === null ? last === undefined : same.length === 1 && last?.value === value) return text;
  const lines = text.split("\n");
  const line = value === null ? [] : [`\t${name.slice(dot + 1)} = ${quote(value)}`];
  if (last) {
    for (const entry of [...same].reverse()) {
      const { firstLine, lastLine } = entry;
      const kept = SECTION.exec(lines[firstLine] ?? "")?.[0];
      const instead = [...(kept === undefined ? [] : [kept]), ...(entry === last ? line : [])];
      const head = lines.findLastIndex((text, at) => at <= firstLine && SECTION.test(text));
      lines.splice(firstLine, lastLine - firstLine + 1, ...instead);
      dropEmptied(lines, head);
    }
    return lines.join("\n");
  }
  const mate = entries.filter((entry) => entry.name.slice(0, entry.name.lastIndexOf(".")) === prefix).at(-1);
  if (mate) {
    lines.splice(mate.lastLine + 1, 0, ...line);
    return lines.join("\n");
  }
  const sub = prefix.indexOf(".");
  const header =
    sub < 0
      ? `[${prefix}]`
      : `[${prefix.slice(0, sub)} "${prefix.slice(sub + 1).replace(/["\\]/g, "\\$&")}"]`;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${header}\n${line.join("\n")}\n`;
}

/** Take the head of a section away, as Git does, when neither a key nor a comment is below it. */
function dropEmptied(lines: string[], head: number): void {
  const after = lines.findIndex((line, at) => at > head && SECTION.test(line));
  const [first = "", ...body] = lines.slice(head, after < 0 ? lines.length : after);
  const rest = [first.replace(SECTION, ""), ...body];
  if (rest.every((line) => line.trim() === "")) lines.splice(head, 1);
}

function quote(value: string): string {
  if (!/[#;"\\\n\t\b]|^\s|\s$/.test(value)) return value;
  const names: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\b": "\\b" };
  return `"${value.replace(/["\\\n\t\b]/g, (char) => names[char] ?? `\\${char}`)}"`;
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}
