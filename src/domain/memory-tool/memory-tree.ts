/**
 * Memories as a tree of files and directories: a directory is there as long as a file lies below it. Pure; the
 * files come in as a list. `notes.save` may have made a file and a directory of one name; both are shown, and
 * a slash at the end tells the directory.
 */
import type { NoteId } from "../note.ts";
import { MEMORY_ROOT, type MemoryPath } from "./memory-path.ts";

/** One memory as a file. */
export interface MemoryFile {
  /** Below `/memories/`; see `memoryName`. */
  readonly name: string;
  readonly noteId: NoteId;
  /** Of the text in UTF-8. */
  readonly bytes: number;
}

export const byName = (files: readonly MemoryFile[]): readonly MemoryFile[] =>
  [...files].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

/** A line of a directory's listing. */
export interface ListedItem {
  /** The whole path; a directory's ends in a slash. */
  readonly path: string;
  /** UTF-8 bytes of the text; of a directory all that is listed or lies deeper. */
  readonly bytes: number;
}

const LEVELS = 2;
const isHidden = (segment: string) => segment.startsWith(".") || segment === "node_modules";

/**
 * What lies in a directory, two levels deep, each directory before what is in it; hidden items are left out.
 *
 * @param below  the files below `directory`
 */
export function listDirectory(
  directory: MemoryPath,
  below: readonly MemoryFile[],
): { readonly bytes: number; readonly items: readonly ListedItem[] } {
  const depth = directory.key === "" ? 0 : directory.key.split("/").length;
  const found = new Map<string, { path: string; bytes: number }>();
  const add = (path: string, bytes: number) => {
    const item = found.get(path);
    if (item) item.bytes += bytes;
    else found.set(path, { path, bytes });
  };
  let total = 0;
  for (const file of below) {
    const segments = file.name.split("/").slice(depth);
    if (segments.some(isHidden)) continue;
    const bytes = file.bytes;
    total += bytes;
    const levels = Math.min(LEVELS, segments.length);
    for (let level = 1; level <= levels; level++) {
      const isFile = level === segments.length;
      add(`${directory.text}/${segments.slice(0, level).join("/")}${isFile ? "" : "/"}`, bytes);
    }
  }
  return { bytes: total, items: inOrderOfWalk([...found.values()]) };
}

/** Names of one directory by their characters, so that what is in a directory stands right after it. */
function inOrderOfWalk(items: readonly ListedItem[]): ListedItem[] {
  const split = items.map((item) => ({ item, segments: item.path.split("/") }));
  return split.sort((a, b) => bySegments(a.segments, b.segments)).map(({ item }) => item);
}

function bySegments(left: readonly string[], right: readonly string[]): number {
  for (const [i, one] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

/** The path that a file is named by in replies. */
export const pathOf = (name: string): string => `${MEMORY_ROOT}/${name}`;
