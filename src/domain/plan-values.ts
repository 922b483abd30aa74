/**
 * Values of a change on their way into a note: each is checked against what a note may hold, and refused
 * by name. Invariant: what passes here is read back from the file exactly as it was given.
 */
import { NotesError } from "./errors.ts";
import type { Value } from "./front-matter.ts";
import { OWN_KEYS, TITLE_MAX_CHARS } from "./note-file.ts";

const TAG_MAX_CHARS = 64;
const TAGS_MAX = 64;
const KEY_MAX_CHARS = 128;
/** Half of what a front matter may have. */
const EXTRA_MAX_BYTES = 16 * 1024;
const EXTRA_DEPTH_MAX = 8;
const HOUR_MS = 3_600_000;
/** The end of the year 9999: what ISO 8601 writes with four digits. */
const LAST_MS = 253_402_300_799_999;

/** INVALID_PARAMS that names one parameter: what is wrong with it, and what to send instead. */
export function refuseParam(path: string, message: string, advice: string): NotesError {
  return new NotesError("INVALID_PARAMS", `${path} ${message}. ${advice}`, { issues: [{ path, message }] });
}

/** A title: 1..300 characters on one line, not only blanks. @throws NotesError INVALID_PARAMS */
export function checkTitle(title: string): string {
  const advice = `Give a title of 1 to ${TITLE_MAX_CHARS} characters on one line.`;
  if (title.trim() === "") throw refuseParam("title", "is empty", advice);
  if (Array.from(title).length > TITLE_MAX_CHARS)
    throw refuseParam("title", `is longer than ${TITLE_MAX_CHARS} characters`, advice);
  checkLine("title", title, advice);
  return title;
}

/** One line that can be written. @throws NotesError INVALID_PARAMS a line break, a control character, half a character */
export function checkLine(path: string, text: string, advice: string): void {
  if (/[\n\r\u2028\u2029]/.test(text)) throw refuseParam(path, "holds a line break", advice);
  if (/[^\P{Cc}\t]/u.test(text)) throw refuseParam(path, "holds a control character", advice);
  checkWhole(path, text);
}

/** Half a surrogate pair can't be written as UTF-8. */
function checkWhole(path: string, text: string): void {
  if (/\p{Cs}/u.test(text)) {
    throw refuseParam(
      path,
      "holds half of a character (a lone surrogate)",
      "Send whole characters; the text was probably cut in the middle of one.",
    );
  }
}

/** Any text that can be written. @throws NotesError INVALID_PARAMS */
export function checkText(path: string, text: string): string {
  checkWhole(path, text);
  return text;
}

/** Tags in the given order, without duplicates. @throws NotesError INVALID_PARAMS */
export function checkTags(tags: readonly string[]): readonly string[] {
  const advice = `Give at most ${TAGS_MAX} tags of 1 to ${TAG_MAX_CHARS} characters, each on one line.`;
  const unique = [...new Set(tags)];
  if (unique.length > TAGS_MAX) throw refuseParam("tags", `has ${unique.length} tags`, advice);
  for (const [i, tag] of unique.entries()) {
    const path = `tags.${i}`;
    if (tag.trim() === "") throw refuseParam(path, "is empty", advice);
    if (Array.from(tag).length > TAG_MAX_CHARS)
      throw refuseParam(path, `is longer than ${TAG_MAX_CHARS} characters`, advice);
    checkLine(path, tag, advice);
  }
  return unique;
}

/** A known type. @throws NotesError INVALID_PARAMS naming those there are */
export function checkType(type: string, types: ReadonlySet<string>): string {
  if (types.has(type)) return type;
  throw refuseParam(
    "note_type",
    `${JSON.stringify(type)} is no type of notes here`,
    `Use one of ${[...types].join(", ")}.`,
  );
}

/**
 * Extra keys as front matter takes them.
 * @throws NotesError INVALID_PARAMS a key of ours (it has its own parameter), or what no file may hold
 */
export function checkExtra(extra: Readonly<Record<string, unknown>>): Readonly<Record<string, Value>> {
  const own: ReadonlySet<string> = new Set(OWN_KEYS);
  const checked: [string, Value][] = [];
  for (const [key, value] of Object.entries(extra)) {
    const path = `extra.${key}`;
    if (own.has(key))
      throw refuseParam(path, "is a field of every note and no extra key", `Use the parameter for ${key}.`);
    checked.push([checkKey(key, path), checkValue(value, path, 0)]);
  }
  const made = Object.fromEntries(checked);
  const bytes = Buffer.byteLength(JSON.stringify(made));
  if (bytes <= EXTRA_MAX_BYTES) return made;
  throw refuseParam(
    "extra",
    `has ${bytes} bytes, over ${EXTRA_MAX_BYTES}`,
    "Put large values into the content.",
  );
}

function checkKey(key: string, path: string): string {
  const advice = `Keys have 1 to ${KEY_MAX_CHARS} characters on one line and no blanks around.`;
  const fit =
    key.trim() === key && key !== "" && key !== "__proto__" && Array.from(key).length <= KEY_MAX_CHARS;
  if (!fit) throw refuseParam(path, "is no key that front matter may have", advice);
  checkLine(path, key, advice);
  return key;
}

function checkValue(value: unknown, path: string, depth: number): Value {
  if (depth > EXTRA_DEPTH_MAX)
    throw refuseParam(path, `is nested deeper than ${EXTRA_DEPTH_MAX}`, "Put it into the content.");
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return checkText(path, value);
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (Array.isArray(value)) return value.map((item, i) => checkValue(item, `${path}.${i}`, depth + 1));
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(([key, item]) => [
      checkKey(key, `${path}.${key}`),
      checkValue(item, `${path}.${key}`, depth + 1),
    ]);
    return Object.fromEntries(pairs);
  }
  throw refuseParam(path, "is no JSON value", "Give text, a number, true, false, a list or an object.");
}

/** The instant `hours` after now, ISO 8601. @throws NotesError INVALID_PARAMS not positive, or beyond the calendar */
export function instantAfter(nowMs: number, hours: number): string {
  const advice = "Give a positive number of hours, or leave it out for a note that stays.";
  if (!(hours > 0)) throw refuseParam("expires_in_hours", "is not positive", advice);
  const atMs = nowMs + hours * HOUR_MS;
  if (!(atMs <= LAST_MS)) throw refuseParam("expires_in_hours", "reaches beyond the year 9999", advice);
  return new Date(atMs).toISOString();
}
