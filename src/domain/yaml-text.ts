/**
 * Values as YAML text on one line: plain where every reader of YAML 1.1 and 1.2 takes it for the same
 * text, quoted otherwise. Invariant: what is written here is read by `front-matter.ts` as the same value.
 */
import type { Value } from "./front-matter.ts";

export type Quotes = "plain" | "single" | "double";

/** Words that some YAML reader takes for a boolean or null. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|none|nan|inf)$/i;
/** Our own instants are written plain: they are for people, and every reader agrees on what they are. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether text may stand without quotes. Flow collections allow less. */
function isPlainSafe(text: string, inFlow: boolean): boolean {
  if (INSTANT.test(text)) return true;
  if (!/^[\p{L}_/]/u.test(text) || RESERVED.test(text) || /[\s:]$/.test(text)) return false;
  if (/: | #|[\p{C}\p{Zl}\p{Zp}\ufeff]/u.test(text) || /[^\S ]/.test(text)) return false;
  return !(inFlow && /[,[\]{}:]/.test(text));
}

/** Text as a scalar, in the given quotes where they can hold it. */
export function scalarText(text: string, quotes: Quotes = "plain", inFlow = false): string {
  if (quotes === "plain" && isPlainSafe(text, inFlow)) return text;
  if (quotes === "single" && !/[\p{C}\p{Zl}\p{Zp}]|[^\S ]/u.test(text))
    return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text).replace(
    /[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Any value on one line; lists and maps in flow style. */
export function valueText(value: Value, quotes: Quotes = "plain", inFlow = false): string {
  if (value === null) return "null";
  if (typeof value === "string") return scalarText(value, quotes, inFlow);
  if (typeof value !== "object") return String(Object.is(value, -0) ? 0 : value);
  if (isList(value)) return `[${value.map((item) => valueText(item, "plain", true)).join(", ")}]`;
  const pairs = Object.entries(value).map(
    ([key, item]) => `${scalarText(key, "plain", true)}: ${valueText(item, "plain", true)}`,
  );
  return `{${pairs.join(", ")}}`;
}

/** Tell a list from every other value. */
export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}
