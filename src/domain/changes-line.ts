/**
 * The line in a commit that says what changed: `status: open → resolved; tags +fixed; body +12 −3`.
 * Built from a note before and after; nothing else is described here.
 * Invariant: every line this makes is one line, passes `isChangesLine`, and holds no control character.
 */
import { diffLines } from "diff";

/** A note as far as the line tells of it. `fields` are shown in their own order. */
export interface Described {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly body: string;
}

const VALUE_MAX_CHARS = 60;
const LINE_MAX_CHARS = 500;
const MAX_EDIT_LENGTH = 2_000;

/** Whether a line is one of ours: its first part is `name: old → new` or `name +…` or `name −…`. */
export function isChangesLine(line: string): boolean {
  return /^(?:[\w.-]+|"(?:[^"\\]|\\.)*")(?:: .* → | [+−])/u.test(line);
}

/**
 * What changed from one state to the next; null when nothing did.
 * @cost a line diff of the bodies; over 2,000 edits only the sizes are compared
 */
export function changesLine(before: Described, after: Described): string | null {
  const parts: string[] = [];
  for (const name of new Set([...Object.keys(before.fields), ...Object.keys(after.fields)])) {
    const [from, to] = [own(before.fields, name), own(after.fields, name)];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    parts.push(`${/^[\w.-]+$/.test(name) ? name : JSON.stringify(flat(name))}: ${show(from)} → ${show(to)}`);
  }
  parts.push(...tagsPart(before.tags, after.tags), ...bodyPart(before.body, after.body));
  if (parts.length === 0) return null;
  const line = parts.join("; ");
  return Array.from(line).length <= LINE_MAX_CHARS
    ? line
    : `${Array.from(line)
        .slice(0, LINE_MAX_CHARS - 1)
        .join("")}…`;
}

/** Keys come from files: `valueOf` and the like must not reach the prototype. */
function own(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;
}

function tagsPart(before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((tag) => !before.includes(tag)).map((tag) => `+${flat(tag)}`);
  const gone = before.filter((tag) => !after.includes(tag)).map((tag) => `−${flat(tag)}`);
  if (added.length + gone.length > 0) return [`tags ${[...added, ...gone].join(" ")}`];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`tags: ${show(before)} → ${show(after)}`];
}

function bodyPart(before: string, after: string): string[] {
  if (before === after) return [];
  const { added, removed } = countLines(before, after);
  return [`body +${added} −${removed}`];
}

function countLines(before: string, after: string): { added: number; removed: number } {
  const diff = diffLines(before, after, { maxEditLength: MAX_EDIT_LENGTH });
  if (diff === undefined) return { added: lines(after), removed: lines(before) };
  let added = 0;
  let removed = 0;
  for (const part of diff) {
    if (part.added) added += part.count;
    if (part.removed) removed += part.count;
  }
  return { added, removed };
}

const lines = (text: string) => (text === "" ? 0 : text.replace(/\n$/, "").split("\n").length);

const flat = (text: string) =>
  text
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();

function show(value: unknown): string {
  if (value === null) return "none";
  const text = flat(typeof value === "string" ? value : JSON.stringify(value)) || '""';
  const chars = Array.from(text);
  return chars.length <= VALUE_MAX_CHARS ? text : `${chars.slice(0, VALUE_MAX_CHARS - 1).join("")}…`;
}
