/**
 * Writing note files: a whole new one, or changes spliced into the bytes that are there.
 * Invariant: what was written is read back the same; where nothing changed the bytes are the same, and a
 * bumped `updated_at` alone is no change.
 */
import type { Described } from "./changes-line.ts";
import { NotesError } from "./errors.ts";
import { readFrontMatter, Unreadable, type Value } from "./front-matter.ts";
import { lineOf, sameData, splice } from "./front-matter-splice.ts";
import type { Status } from "./note.ts";
import { type NoteFields, type NoteText, OWN_KEYS, readNoteFile, textOf } from "./note-file.ts";
import { encodeNote, withBody } from "./note-text.ts";

/**
 * The bytes of a new note. Optional keys are written only when they differ from the default.
 * @throws Unreadable  values that don't fit: over 32 KiB, or deeper than a front matter may be
 */
export function writeNoteFile(fields: NoteFields, body: string): Uint8Array {
  const stated: [string, Value | undefined][] = [
    ["id", fields.id ?? undefined],
    // A memory's title is its key.
    ["title", fields.title === fields.key ? undefined : fields.title],
    ["type", fields.type],
    ["tags", fields.tags],
    ["created_at", fields.createdAt ?? undefined],
    ["updated_at", fields.updatedAt ?? undefined],
    ["status", fields.status === "open" ? undefined : fields.status],
    ["scope", fields.scope === "workspace" ? undefined : fields.scope],
    ["scope_ref_id", fields.scopeRefId ?? undefined],
    ["key", fields.key ?? undefined],
    ["agent_id", fields.agentId ?? undefined],
    ["agent_name", fields.agentName ?? undefined],
    ["pinned", fields.pinned ? true : undefined],
    ["expires_at", fields.expiresAt ?? undefined],
    ...Object.entries(fields.extra),
  ];
  const data = new Map(
    stated.flatMap(([key, value]): [string, Value][] => (value === undefined ? [] : [[key, value]])),
  );
  const lines = [...data].map(([key, value]) => `${lineOf(key, value)}\n`);
  const text = withBody(`---\n${lines.join("")}---\n`, body);
  const read = readFrontMatter(text);
  if (!sameData(read.data, data)) throw new Unreadable("the values can't be written as front matter", null);
  return encodeNote(text);
}

/** New values of a note; absent ones stay as they are. */
export interface NotePatch {
  readonly title?: string;
  readonly type?: string;
  readonly tags?: readonly string[];
  readonly status?: Status;
  readonly pinned?: boolean;
  /** ISO 8601, null clears. */
  readonly expiresAt?: string | null;
  /** Written only beside another change, and only into a file that states its last change. */
  readonly updatedAt?: string;
  /** Key by key; null removes. Keys of ours have no effect here. */
  readonly extra?: Readonly<Record<string, Value>>;
  /** Front-matter keys of ours that name a memory, as they shall stand; undefined removes. */
  readonly names?: ReadonlyMap<string, Value | undefined>;
  readonly body?: string;
}

/**
 * Change a note file in place.
 *
 * @returns the new bytes, or the very same array when nothing changes
 * @throws NotesError INVALID_NOTE  the file can't be read as a note, or not be changed without touching more
 */
export function updateNoteFile(
  path: string,
  bytes: Uint8Array,
  types: ReadonlySet<string>,
  patch: NotePatch,
): Uint8Array {
  const note = readableNote(path, bytes, types);
  try {
    const spliced = splice(note.text, keysOf(note, patch));
    const changed =
      patch.body === undefined || patch.body === note.body ? spliced : withBody(spliced, patch.body);
    if (changed === note.text) return bytes;
    const { data } = note.front;
    const dated = patch.updatedAt !== undefined && (data.has("updated_at") || data.has("modified"));
    return encodeNote(dated ? splice(changed, new Map([["updated_at", patch.updatedAt]])) : changed);
  } catch (error) {
    if (error instanceof Unreadable) throw invalidNote(path, error.message, error.line);
    throw error;
  }
}

/**
 * A note file dated anew where it states its last change; for bytes that become current again.
 * @param unexpire  take its expiry away
 * @throws NotesError INVALID_NOTE  as `updateNoteFile`
 */
export function datedNoteFile(
  path: string,
  bytes: Uint8Array,
  types: ReadonlySet<string>,
  updatedAt: string,
  unexpire: boolean,
): Uint8Array {
  const note = readableNote(path, bytes, types);
  const { data } = note.front;
  const dated = data.has("updated_at") || data.has("modified");
  try {
    return encodeNote(
      splice(
        note.text,
        new Map([
          ...(dated ? [["updated_at", updatedAt] as const] : []),
          ...(unexpire ? [["expires_at", undefined] as const] : []),
        ]),
      ),
    );
  } catch (error) {
    if (error instanceof Unreadable) throw invalidNote(path, error.message, error.line);
    throw error;
  }
}

/** A note as the line of changes tells of it. */
export function describedNote({ fields, body }: NoteText): Described {
  const { title, type, status, pinned, expiresAt, extra, tags } = fields;
  return { fields: { title, type, status, pinned, expires_at: expiresAt, ...extra }, tags, body };
}

/**
 * Read a note that is about to be changed.
 * @throws NotesError INVALID_NOTE  with `path`, `line` and the reason; nothing was changed
 */
export function readableNote(path: string, bytes: Uint8Array, types: ReadonlySet<string>): NoteText {
  const file = readNoteFile(path, bytes, types);
  if (file.kind === "quarantined") throw invalidNote(path, file.reason, file.line);
  return file;
}

function invalidNote(path: string, reason: string, line: number | null): NotesError {
  const where = line === null ? path : `${path}, line ${line}`;
  return new NotesError(
    "INVALID_NOTE",
    `${where}: ${reason}. Nothing was changed; correct the file by hand and save it.`,
    {
      path,
      line,
      reason,
    },
  );
}

const OWN: ReadonlySet<string> = new Set(OWN_KEYS);

function keysOf({ fields, front }: NoteText, patch: NotePatch): Map<string, Value | undefined> {
  const keys = new Map<string, Value | undefined>();
  const { data } = front;
  const stated = (key: string) => textOf(data.get(key) ?? null);
  if (patch.title !== undefined && patch.title !== fields.title) keys.set("title", patch.title);
  if (patch.type !== undefined && patch.type !== (stated("type") ?? "general")) keys.set("type", patch.type);
  if (patch.status !== undefined && patch.status !== (stated("status") ?? "open"))
    keys.set("status", patch.status);
  if (patch.tags !== undefined && !equalLists(patch.tags, fields.tags)) {
    keys.set("tags", typeof data.get("tags") === "string" ? joinTags(patch.tags) : patch.tags);
  }
  if (patch.pinned !== undefined && patch.pinned !== fields.pinned) keys.set("pinned", patch.pinned);
  if (patch.expiresAt !== undefined && patch.expiresAt !== fields.expiresAt) {
    keys.set("expires_at", patch.expiresAt ?? undefined);
  }
  for (const [key, value] of patch.names ?? []) keys.set(key, value);
  for (const [key, value] of Object.entries(patch.extra ?? {})) {
    if (!OWN.has(key)) keys.set(key, value ?? undefined);
  }
  return keys;
}

const equalLists = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((tag, i) => tag === b[i]);

/** The author's `a, b` form, as long as every tag can stand in it. */
function joinTags(tags: readonly string[]): Value {
  const fit = tags.length > 0 && tags.every((tag) => !tag.includes(",") && tag === tag.trim());
  return fit ? tags.join(", ") : tags;
}
