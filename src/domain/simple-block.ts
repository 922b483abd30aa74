/**
 * The fast lane for front matter as we write it ourselves: one `key: value` a line, where YAML leaves no
 * room for another reading. Anything else is not simple and goes the whole way.
 * Invariant: what is read or spliced here is what the YAML library would read and splice, only 10 × sooner.
 */
import type { Value } from "./front-matter.ts";
import { isList, valueText } from "./yaml-text.ts";

// A word may hold blanks, but neither `: ` nor ` #` nor a trailing colon can arise from these.
const WORD = "[A-Za-z0-9_](?:[\\w./+@-]*[\\w+@-])?";
const PHRASE = `${WORD}(?: ${WORD})*`;
const INSTANT = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
const QUOTED = '"(?:[^"\\\\\\p{C}\\u2028\\u2029\\ufeff])*"';
const LIST = `\\[(?:${PHRASE}(?:, ${PHRASE})*)?\\]`;
const LINE = new RegExp(`^([A-Za-z_][\\w-]*): (?:(${INSTANT}|${PHRASE})|(${QUOTED})|(${LIST}))$`, "u");
const LINE_MAX_CHARS = 1000;

/**
 * Read a block whose every line is simple, else null.
 * @param lines   LF line ends
 * @param scalar  what a plain scalar's text means
 */
export function readSimple(lines: string, scalar: (text: string) => Value): Map<string, Value> | null {
  const data = new Map<string, Value>();
  for (const line of lines.replace(/\n$/, "").split("\n")) {
    const found = line.length > LINE_MAX_CHARS ? null : LINE.exec(line);
    const key = found?.[1];
    if (key === undefined || data.has(key) || key === "__proto__") return null;
    const [plain, quoted, list] = [found?.[2], found?.[3], found?.[4]];
    if (plain !== undefined) data.set(key, scalar(plain));
    else if (quoted !== undefined) data.set(key, quoted.slice(1, -1));
    else if (list === "[]") data.set(key, []);
    else data.set(key, (list ?? "").slice(1, -1).split(", ").map(scalar));
  }
  return data;
}

/** Change one key of a block whose every line is simple, else null. Quotes stay as the author has them. */
export function spliceSimple(block: string, key: string, value: Value | undefined): string | null {
  if (!/^[A-Za-z_][\w-]*$/.test(key) || !block.endsWith("\n")) return null;
  const lines = block.slice(0, -1).split("\n");
  if (lines.some((line) => line.length > LINE_MAX_CHARS || !LINE.test(line))) return null;
  const at = lines.findIndex((line) => line.startsWith(`${key}: `));
  const old = lines[at]?.slice(key.length + 2) ?? "";
  if (value === undefined) {
    if (at >= 0) lines.splice(at, 1);
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  }
  const line = `${key}: ${valueText(value, old.startsWith('"') ? "double" : "plain")}`;
  if (at < 0) lines.push(line);
  else if (isList(value) === old.startsWith("[")) lines[at] = line;
  else return null;
  return `${lines.join("\n")}\n`;
}
