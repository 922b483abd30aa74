/** Where two indexes of one head disagree, for daemon.verify: any field of any note, or its body. */
import type { RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import type { NoteIndex } from "./note-index.ts";

export interface Difference {
  readonly path: RepoPath;
  readonly detail: string;
}

/** Compare file by file. Empty when equal. `left` and `right` name the two in the details. */
export function differencesBetween(left: NoteIndex, right: NoteIndex): Difference[] {
  const lefts = new Map(left.files().map((file) => [file.path, file]));
  const rights = new Map(right.files().map((file) => [file.path, file]));
  const paths = [...new Set([...lefts.keys(), ...rights.keys()])].sort(byBytes);
  return paths.flatMap((path): Difference[] => {
    const [a, b] = [lefts.get(path), rights.get(path)];
    if (a === undefined || b === undefined) {
      return [{ path, detail: `only in the ${a === undefined ? "other" : "held"} index` }];
    }
    const [from, to] = [shown(left, a.noteId), shown(right, b.noteId)];
    return Object.keys(from)
      .filter((name) => from[name] !== to[name])
      .map((name) => ({ path, detail: `${name}: held ${from[name]}, other ${to[name]}` }));
  });
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
