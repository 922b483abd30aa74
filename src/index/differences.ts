/** Where two indexes of one head disagree, for daemon.verify: any field of any note, or its body. */
import type { RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import type { HeldFile } from "./digest.ts";
import type { NoteIndex } from "./note-index.ts";
import { finish } from "./slices.ts";

export interface Difference {
  readonly path: RepoPath;
  readonly detail: string;
}

/** An index, and its files by path bytes. */
interface Side {
  readonly index: NoteIndex;
  readonly files: readonly HeldFile[];
}

/** Compare file by file, at once. */
export const differencesBetween = (held: NoteIndex, other: NoteIndex): Difference[] =>
  finish(differencesInSteps({ index: held, files: held.files() }, { index: other, files: other.files() }));

const STEP_FILES = 32;

/** Compare file by file, in steps. Empty when equal. The two are called held and other in the details. */
export function* differencesInSteps(held: Side, other: Side): Generator<void, Difference[]> {
  const found: Difference[] = [];
  let left = 0;
  let right = 0;
  for (let looked = 1; left < held.files.length || right < other.files.length; looked++) {
    const [a, b] = [held.files[left], other.files[right]];
    const order = a === undefined ? 1 : b === undefined ? -1 : byBytes(a.path, b.path);
    if (order <= 0) left++;
    if (order >= 0) right++;
    if (a && b && order === 0) found.push(...fieldsThatDiffer(held.index, a, other.index, b));
    else if (a && order < 0) found.push({ path: a.path, detail: "only in the held index" });
    else if (b) found.push({ path: b.path, detail: "only in the other index" });
    if (looked % STEP_FILES === 0) yield;
  }
  return found;
}

function fieldsThatDiffer(held: NoteIndex, a: HeldFile, other: NoteIndex, b: HeldFile): Difference[] {
  const [from, to] = [shown(held, a.noteId), shown(other, b.noteId)];
  return Object.keys(from)
    .filter((name) => from[name] !== to[name])
    .map((name) => ({ path: a.path, detail: `${name}: held ${from[name]}, other ${to[name]}` }));
}

const DETAIL_MAX_CHARS = 200;

function shown(index: NoteIndex, id: Parameters<NoteIndex["content"]>[0]): Record<string, string> {
  const fields: Record<string, unknown> = {
    ...index.get(id),
    quarantine: index.quarantine(id),
    content: index.content(id),
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, cut(JSON.stringify(value))]),
  );
}

/** Long values are cut in the middle, with their length, so that a difference anywhere in them shows. */
function cut(text: string): string {
  if (text.length <= DETAIL_MAX_CHARS) return text;
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0;
  return `${text.slice(0, DETAIL_MAX_CHARS / 2)}… (${text.length} characters, sum ${sum >>> 0})`;
}
