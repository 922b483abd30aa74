/** Where an index comes from: empty, or from a checkpoint. The one place that ties it to how files are read. */
import { NOTE_TYPES, type RepoPath } from "../domain/note.ts";
import { readNoteFile } from "../domain/note-file.ts";
import { isNotePath } from "../domain/note-path.ts";
import { stemOf } from "../lib/slash-path.ts";
import { MemoryIndex, type MemoryIndexOptions } from "./memory-index.ts";
import type { NoteIndex } from "./note-index.ts";
import type { ParsedFile } from "./parsed-file.ts";
import { type CheckpointBytes, inMemory, readCheckpoint } from "./read-checkpoint.ts";

interface IndexOptions {
  /** Every note type there is, built-in and configured. Default: the built-in ones. */
  readonly types?: Iterable<string>;
  /** Where notes lie: only `*.md` under these are notes. Default: every path that the store tells of is one. */
  readonly roots?: readonly string[];
}

/** Raised when `readNoteFile` reads the same bytes otherwise than before, so that old checkpoints are refused. */
const READING = 2;

/** An index that holds nothing yet: `rebuild` it from history, or `apply` a first commit. */
export function createNoteIndex(options: IndexOptions = {}): NoteIndex {
  return new MemoryIndex(memoryOptions(options));
}

/**
 * The index that wrote a checkpoint (`snapshot`), at the head it stood at then; `apply` what came after.
 * Needs no blob. The words for search are indexed between turns, or at once by a search that comes first.
 *
 * @returns null for bytes of another format, program, set of types or roots, truncated or damaged: rebuild then
 * @cost one pass over the bytes; some 2 µs a note
 */
export function restoreNoteIndex(
  bytes: Uint8Array | CheckpointBytes,
  options: IndexOptions = {},
): NoteIndex | null {
  const memory = memoryOptions(options);
  const read = readCheckpoint(bytes instanceof Uint8Array ? inMemory(bytes) : bytes, memory.fingerprint);
  return read && new MemoryIndex(memory, read.parts, read.origin);
}

function memoryOptions({ types, roots }: IndexOptions): MemoryIndexOptions {
  const known = new Set(types ?? Object.keys(NOTE_TYPES));
  return {
    parse: (path, bytes) => parseFile(path, bytes, known),
    isNotePath: (path) => roots === undefined || isNotePath(path, roots),
    fingerprint: JSON.stringify([READING, [...known].sort(), roots ? [...new Set(roots)].sort() : null]),
  };
}

/** A note file as the index takes it. */
function parseFile(path: RepoPath, bytes: Uint8Array, types: ReadonlySet<string>): ParsedFile {
  const file = readNoteFile(path, bytes, types);
  if (file.kind === "quarantined") {
    return {
      brief: { title: stemOf(path), type: null, tags: [], claim: null },
      said: null,
      body: file.text,
      trouble: { line: file.line, reason: file.reason },
    };
  }
  const { id, title, type, tags, ...fields } = file.fields;
  const { disagreements, body } = file;
  const said = disagreements.length === 0 ? fields : { ...fields, disagreements };
  return { brief: { title, type, tags, claim: id }, said, body, trouble: null };
}
