/**
 * Reading a note file: bytes to the fields as the file states them, or a quarantine with its reason.
 * What history adds (dates that are missing, trust, ids of files without one) is the index's.
 * Invariant: no file makes this throw, and no key of a file is lost: what is not ours is in `extra`.
 */

import { stemOf } from "../lib/slash-path.ts";
import { type FrontMatter, readFrontMatter, Unreadable, type Value } from "./front-matter.ts";
import { agentIdOf, parseNoteId } from "./identity.ts";
import { parseInstant } from "./instant.ts";
import { headings } from "./markdown.ts";
import { isMemoryId, readMemory } from "./memory/memory-words.ts";
import { type NoteId, SCOPES, type Scope, STATUSES, type Status } from "./note.ts";
import { bodyOf, decodeNote } from "./note-text.ts";
import { isList } from "./yaml-text.ts";

/** A note's fields as its file states them. Instants are ISO 8601 with `Z`. */
export interface NoteFields {
  /** Of a memory its path's, whatever the file says. Null: the file has none, or none that may count. */
  readonly id: NoteId | null;
  /** From the file, else its first heading, else the file's stem. One line, 1..300 characters. */
  readonly title: string;
  /** A known type; an unknown word stands in `extra.type`. */
  readonly type: string;
  readonly tags: readonly string[];
  /** Null: history knows. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly status: Status;
  readonly scope: Scope;
  readonly scopeRefId: string | null;
  readonly key: string | null;
  readonly agentId: number | null;
  readonly agentName: string | null;
  readonly pinned: boolean;
  readonly expiresAt: string | null;
  readonly extra: Readonly<Record<string, Value>>;
}

export interface NoteText {
  readonly kind: "note";
  readonly fields: NoteFields;
  readonly body: string;
  /** UTF-16 offset of `body` in the file's text. */
  readonly bodyOffset: number;
  /** 1-based line of the file on which `body` starts. */
  readonly bodyLine: number;
  readonly front: FrontMatter;
  /** The whole file. */
  readonly text: string;
  /** Where words that name a memory and the path disagree, a sentence each. The path is what counts. */
  readonly disagreements: readonly string[];
}

interface QuarantinedText {
  readonly kind: "quarantined";
  readonly reason: string;
  /** 1-based; null when no line is to blame. */
  readonly line: number | null;
  /** As far as the bytes could be decoded: still searchable. */
  readonly text: string;
}

type NoteFile = NoteText | QuarantinedText;

/** Keys of the front matter that are fields of ours, in the order in which a new note has them. */
export const OWN_KEYS = [
  "id",
  "title",
  "type",
  "tags",
  "created_at",
  "updated_at",
  "status",
  "scope",
  "scope_ref_id",
  "key",
  "agent_id",
  "agent_name",
  "pinned",
  "expires_at",
] as const;

export const TITLE_MAX_CHARS = 300;

/**
 * Read a note file.
 *
 * @param path   relative to the repository root; names memories, and notes without a title
 * @param types  the note types there are (built in and from settings)
 */
export function readNoteFile(path: string, bytes: Uint8Array, types: ReadonlySet<string>): NoteFile {
  const decoded = decodeNote(bytes);
  if (decoded.kind === "foreign") return { ...decoded, kind: "quarantined" };
  try {
    const front = readFrontMatter(decoded.text);
    const { content, offset } = bodyOf(front);
    const { fields, disagreements } = readFields(path, front, content, types);
    const bodyLine = decoded.text.slice(0, offset).split("\n").length;
    const place = { bodyOffset: offset, bodyLine, front, text: decoded.text };
    return { kind: "note", fields, body: content, ...place, disagreements };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: "quarantined", reason: error.message, line: error.line, text: decoded.text };
  }
}

type Take = <T>(key: string, read: (value: Value) => T | null) => T | null;

function readFields(
  path: string,
  front: FrontMatter,
  body: string,
  types: ReadonlySet<string>,
): { readonly fields: NoteFields; readonly disagreements: readonly string[] } {
  const extra = new Map<string, Value>(front.data);
  for (const key of OWN_KEYS) extra.delete(key);
  const { data } = front;
  /** Read one of our keys; a value that can't be it is kept in `extra`. */
  const take: Take = (key, read) => {
    const value = data.get(key);
    if (value === undefined || value === null) return null;
    const taken = read(value);
    if (taken === null) extra.set(key, value);
    return taken;
  };
  const { disagreements, ...names } = readNames(path, data, take, extra);
  const instant = (...keys: string[]) => {
    const [own, ...others] = keys.map((key) =>
      key.endsWith("_at") ? take(key, instantOf) : instantOf(data.get(key) ?? null),
    );
    return own ?? others.find((found) => found !== null) ?? null;
  };
  const fields = {
    title: titleOf(take("title", textOf) ?? names.key, body, path),
    type: take("type", (value) => (types.has(textOf(value) ?? "") ? textOf(value) : null)) ?? "general",
    tags: take("tags", tagsOf) ?? [],
    createdAt: instant("created_at", "created", "date"),
    updatedAt: instant("updated_at", "modified"),
    status: take("status", oneOf(STATUSES)) ?? "open",
    ...names,
    pinned: take("pinned", booleanOf) ?? false,
    expiresAt: take("expires_at", instantOf),
    extra: {},
  };
  return { fields: { ...fields, extra: Object.fromEntries(extra) }, disagreements };
}

const oneOf =
  <T extends string>(words: readonly T[]) =>
  (value: Value) =>
    words.find((word) => word === textOf(value)) ?? null;

/** A scalar's text as the file has it; null for lists, maps and nothing. */
export function textOf(value: Value): string | null {
  return value === null || typeof value === "object" ? null : String(value);
}

const instantOf = (value: Value) => parseInstant(textOf(value) ?? "");

function booleanOf(value: Value): boolean | null {
  const text = textOf(value) ?? "";
  if (/^(?:true|yes|on)$/i.test(text)) return true;
  return /^(?:false|no|off)$/i.test(text) ? false : null;
}

function agentNumber(value: Value): number | null {
  const number = Number(textOf(value) ?? "");
  return Number.isSafeInteger(number) && number >= 1 && number <= 0x7fffffff ? number : null;
}

/** A list of scalars, or words parted by commas. Duplicates and empty ones are dropped. */
export function tagsOf(value: Value): readonly string[] | null {
  const given = isList(value)
    ? value.map(textOf)
    : (textOf(value)
        ?.split(",")
        .map((tag) => tag.trim()) ?? [null]);
  if (given.includes(null)) return null;
  const tags = given.filter((tag) => tag !== null && tag.trim() !== "").map((tag) => flat(tag ?? ""));
  return [...new Set(tags)];
}

const flat = (text: string) => text.replace(/\s*[\n\r\u2028\u2029]\s*/g, " ");

function titleOf(stated: string | null, body: string, path: string): string {
  const stem = stemOf(path);
  const candidates = [
    stated,
    () => headings(body).find((heading) => heading.text !== "")?.text ?? null,
    stem,
    "untitled",
  ];
  for (const candidate of candidates) {
    const text = typeof candidate === "function" ? candidate() : candidate;
    if (text === null || text.trim() === "") continue;
    const line = flat(text);
    return line.length <= TITLE_MAX_CHARS ? line : Array.from(line).slice(0, TITLE_MAX_CHARS).join("");
  }
  return stem;
}

type Names = Pick<NoteFields, "id" | "scope" | "scopeRefId" | "key" | "agentId" | "agentName">;

/** What names a note. A memory is what its path says; of any other file the words of a memory are kept in `extra`. */
function readNames(
  path: string,
  data: FrontMatter["data"],
  take: Take,
  extra: Map<string, Value>,
): Names & { readonly disagreements: readonly string[] } {
  const { place, disagreements } = readMemory(path, data);
  const id = take("id", (value) => parseNoteId(textOf(value) ?? ""));
  const agentName = take("agent_name", textOf);
  const agentId = take("agent_id", agentNumber);
  const scope = take("scope", oneOf(SCOPES));
  const said = { scope_ref_id: take("scope_ref_id", textOf), key: take("key", textOf) };
  if (place !== null) {
    const { scope, ref: scopeRefId, agent, key } = place;
    const derivedId = agent === null ? null : agentIdOf(agent);
    return { id: place.id, scope, scopeRefId, key, agentName: agent, agentId: derivedId, disagreements };
  }
  const taken = id !== null && isMemoryId(id) ? null : id;
  if (id !== taken) extra.set("id", id);
  if (scope !== null && scope !== "workspace") extra.set("scope", scope);
  for (const [key, text] of Object.entries(said)) if (text !== null) extra.set(key, text);
  const none = { scope: "workspace", scopeRefId: null, key: null } as const;
  const derivedId = agentName === null ? null : agentIdOf(agentName);
  return { id: taken, ...none, agentName, agentId: agentId ?? derivedId, disagreements };
}
