/**
 * What a purge takes away, as the store asks it: texts in all their forms, and whole notes with every version they had.
 * A memory whose key or owner holds a text gets another path, and with it another id; both are followed everywhere.
 */
import { fileId, memoryId } from "../../domain/identity.ts";
import type { RepoPath } from "../../domain/note.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import { isNotePath, memorySegments, unescapeSegment } from "../../domain/note-path.ts";
import { type Forms, formsOf } from "../../store/purge/forms.ts";
import type { PlacedFile } from "../../store/purge/places.ts";
import { type Cutting, type Rewriting, renamedPath } from "../../store/purge/rewriting.ts";

export interface PurgeRules {
  readonly forms: Forms;
  readonly rewriting: Rewriting;
  /** See `PurgedNote`. */
  readonly shared: readonly string[];
}

/** A note that goes: its files at each commit, and what nothing else holds of it. */
export interface PurgedNote extends Cutting {
  /** Ids under which commits name it. */
  readonly ids: ReadonlySet<string>;
  /** Contents that no other file holds. */
  readonly blobs: ReadonlySet<string>;
  /** Paths of other files that hold a content of it too, and keep it. */
  readonly shared: readonly string[];
}

export const NO_NOTE: PurgedNote = {
  ids: new Set(),
  cuts: new Map(),
  blobs: new Set(),
  trees: new Set(),
  owns: () => false,
  shared: [],
};

/** @param renames ids that are made of texts, old to new */
export function purgeRules(
  texts: readonly string[],
  note: PurgedNote = NO_NOTE,
  renames: ReadonlyMap<string, string> = new Map(),
): PurgeRules {
  const forms = formsOf(texts, renames);
  return {
    forms,
    shared: note.shared,
    rewriting: {
      blob: (id, bytes) => (note.blobs.has(id) ? null : forms.replace(bytes)),
      message: (bytes) => messageWithout(note.ids, forms.replaceMessage(bytes)),
      header: forms.replace,
      name: forms.replaceName,
      cutting: note,
    },
  };
}

/** In place of a title. */
const UNTOLD = "(purged)";

const NOTE_ID = /^Note-Id: (.*)$/gm;

/** Of a commit about the note alone the title goes, and what was said about it; its trailers stay. */
function messageWithout(ids: ReadonlySet<string>, bytes: Buffer): Buffer {
  if (ids.size === 0) return bytes;
  const text = bytes.toString("utf8");
  const blocks = text.trimEnd().split("\n\n");
  const trailers = blocks.at(-1) ?? "";
  const named = [...trailers.matchAll(NOTE_ID)].map(([, id = ""]) => id);
  if (blocks.length < 2 || named.length !== 1 || !named.every((id) => ids.has(id))) return bytes;
  const [, begins] = /^([a-z]+(?:\([^)]*\))?: )/.exec(blocks[0] ?? "") ?? [];
  const subject = begins === undefined ? UNTOLD : `${begins}${UNTOLD}`;
  const changed = `${subject}\n\n${trailers}\n`;
  return changed === text ? bytes : Buffer.from(changed);
}

/** The id that a file's path alone gives its note: of a memory, or of a file without one. */
function idFromPath(path: string): string | null {
  const segments = memorySegments(path);
  if (segments === null) return fileId(path as RepoPath, () => false);
  const { scope, ref, agent, key } = segments;
  const [names, texts] = [
    [ref, agent, key],
    [ref, agent, key].map((one) => (one === null ? null : unescapeSegment(one))),
  ];
  if (texts.some((text, i) => text === null && names[i] !== null)) return null;
  return memoryId({ scope, ref: texts[0] ?? null, agent: texts[1] ?? null, key: texts[2] ?? "" });
}

/**
 * Ids that change because a path does.
 * @param files whose content or path holds a text
 */
export function renamedIds(files: Iterable<PlacedFile>, rewriting: Rewriting): Map<string, string> {
  const renames = new Map<string, string>();
  for (const { path } of files) {
    const to = renamedPath(rewriting, path);
    if (to === path) continue;
    const [before, after] = [idFromPath(path), idFromPath(to)];
    if (before !== null && after !== null && before !== after) renames.set(before, after);
  }
  return renames;
}

/** The id of the note in a file; null: it is none, or can't be read as one. */
export function noteIdOf(path: string, bytes: Uint8Array, roots: readonly string[]): string | null {
  if (!isNotePath(path, roots)) return null;
  const read = readNoteFile(path, bytes, new Set());
  return (read.kind === "note" ? read.fields.id : null) ?? fileId(path, () => false);
}
