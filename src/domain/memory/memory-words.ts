/**
 * Which memory a file is: its path says so, and the words in it only give in full what the path has escaped or cut.
 * Words that say otherwise are told and not obeyed. Pure, over a path and the keys of a front matter.
 * Invariant: a file is a memory exactly where `notes.save` would write that memory.
 */
import type { Value } from "../front-matter.ts";
import { agentIdOf, foldAgentName, type MemoryKey, memoryId } from "../identity.ts";
import { type NoteId, SCOPES, type Scope } from "../note.ts";
import { escapeSegment, memorySegments, unescapeSegment } from "../note-path.ts";

type Data = ReadonlyMap<string, Value>;

/** What a file is as a memory. */
interface MemoryPlace {
  readonly scope: Scope;
  readonly ref: string | null;
  readonly agent: string | null;
  readonly key: string;
  /** Null: a name is cut in the path, and the file doesn't give it in full. */
  readonly id: NoteId | null;
}

interface MemoryReading {
  /** Null: the file is no memory, whatever it says. */
  readonly place: MemoryPlace | null;
  /** Where words and path disagree, a sentence each; the path is what counts. */
  readonly disagreements: readonly string[];
}

/** Ids that memory has and no other file may. */
export const isMemoryId = (id: string): boolean => /^mem_[a-z2-7]{20}$/.test(id);

/** Read which memory a file is, if one. */
export function readMemory(path: string, data: Data): MemoryReading {
  const segments = memorySegments(path);
  const place = segments && placeOf(segments, data);
  if (place === null) return { place, disagreements: claims(data, segments !== null) };
  return { place, disagreements: disagreements(place, data) };
}

type Segments = NonNullable<ReturnType<typeof memorySegments>>;

function placeOf({ scope, ref, agent, key }: Segments, data: Data): MemoryPlace | null {
  const names = [
    ref === null ? null : fullText(ref, wordOf(data, "scope_ref_id")),
    agent === null ? null : fullText(agent, wordOf(data, "agent_name"), foldAgentName),
    fullText(key, wordOf(data, "key")),
  ];
  if (names.includes(undefined)) return null;
  const [refText = null, agentText = null, keyText = null] = names;
  const known = (segment: string | null, name: Name | null) =>
    segment === null ? null : (name?.text ?? beginning(segment));
  const memory = {
    scope,
    ref: known(ref, refText),
    agent: known(agent, agentText),
    key: known(key, keyText) ?? "",
  };
  const isWhole = names.every((name) => name === null || name?.text !== null);
  return { ...memory, id: isWhole ? memoryId(memory) : null };
}

/** `text` null: the path holds only a part of it. */
interface Name {
  readonly text: string | null;
}

/** The text of a segment; undefined: no text is written like that. */
function fullText(segment: string, said: string | null, fold = (text: string) => text): Name | undefined {
  if (said !== null && escapeSegment(fold(said)) === segment) return { text: said.normalize("NFC") };
  const text = unescapeSegment(segment);
  if (text !== null) return { text };
  return CUT.test(segment) ? { text: null } : undefined;
}

/** A long text: its beginning, and the hash of all of it. */
const CUT = /^[a-z0-9_][a-z0-9._-]{0,79}_x[a-z2-7]{20}$/;

/** What the path still has of a cut text, enough to see that a key is reserved. */
function beginning(segment: string): string {
  const kept = segment.replace(/_x[a-z2-7]{20}$/, "");
  const bytes = kept.replace(/_([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${Buffer.from(bytes, "latin1")
    .toString("utf8")
    .replace(/\ufffd+$/, "")}…`;
}

/** A scalar as the file has it; null for lists, maps and nothing. */
function wordOf(data: Data, key: string): string | null {
  const value = data.get(key);
  return value === undefined || value === null || typeof value === "object" ? null : String(value);
}

const shown = (value: Value) => {
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
};

/** How each key of ours stands to a memory, and what it would say rightly; undefined: it has none. */
function rightWords(memory: MemoryKey, id: NoteId | null) {
  const { scope, ref, agent, key } = memory;
  const nfc = (name: string | null) => (said: string) => name !== null && said.normalize("NFC") === name;
  return [
    { key: "id", right: id ?? undefined, fits: (said: string) => said === id },
    { key: "scope", right: scope, fits: (said: string) => said === scope },
    { key: "scope_ref_id", right: ref ?? undefined, fits: nfc(ref) },
    { key: "key", right: key, fits: nfc(key) },
    {
      key: "agent_name",
      right: agent ?? undefined,
      fits: (said: string) => agent !== null && foldAgentName(said) === foldAgentName(agent),
    },
    {
      key: "agent_id",
      right: agent === null ? undefined : agentIdOf(agent),
      fits: (said: string) => agent !== null && said === String(agentIdOf(agent)),
    },
  ] as const;
}

function disagreements(place: MemoryPlace, data: Data): string[] {
  const found = rightWords(place, place.id).flatMap(({ key, right, fits }) => {
    const value = data.get(key);
    // Of a name that isn't known the right id isn't either.
    if (value === undefined || value === null || (key === "id" && place.id === null)) return [];
    const said = wordOf(data, key);
    if (said !== null && fits(said)) return [];
    return [`${key} says ${shown(value)}, its path ${right === undefined ? "has none" : shown(right)}`];
  });
  if (place.id !== null) return found;
  return [...found, "the path holds only a part of a long name, and the file doesn't give it in full"];
}

/**
 * The words of a file that a save puts right, and those that its path needs: key → value, undefined removes.
 * @param memory  whose path the file has
 */
export function agreeingNames(memory: MemoryKey, data: Data): ReadonlyMap<string, Value | undefined> {
  const names = new Map<string, Value | undefined>();
  const cut = (text: string | null) => text !== null && unescapeSegment(escapeSegment(text)) === null;
  const needed: Readonly<Record<string, boolean>> = {
    key: cut(memory.key),
    scope_ref_id: cut(memory.ref),
    agent_name: cut(memory.agent === null ? null : foldAgentName(memory.agent)),
  };
  for (const { key, right, fits } of rightWords(memory, memoryId(memory))) {
    const said = wordOf(data, key);
    if (data.has(key) ? said === null || !fits(said) : needed[key] === true) names.set(key, right);
  }
  return names;
}

const OTHER_SCOPES: ReadonlySet<string> = new Set(SCOPES.filter((scope) => scope !== "workspace"));

/** What a file that is no memory says as if it were one. A `key` alone is another tool's word. */
function claims(data: Data, isOddName: boolean): string[] {
  const found: string[] = [];
  if (isOddName) found.push("its name is none that notes.save gives a memory, so it is an ordinary note");
  const id = wordOf(data, "id") ?? "";
  if (isMemoryId(id)) found.push(`id says ${shown(id)}, which is a memory's, and this is none`);
  const scope = wordOf(data, "scope");
  const beside = ["scope", "scope_ref_id", "agent_name", "agent_id"].some(
    (key) => wordOf(data, key) !== null,
  );
  if (scope !== null && OTHER_SCOPES.has(scope)) {
    found.push(`scope says ${shown(scope)}, and only a file of notes.save's under memory/ is memory`);
  } else if (beside && wordOf(data, "key") !== null) {
    found.push(
      `key says ${shown(wordOf(data, "key"))}, and only a file of notes.save's under memory/ is memory`,
    );
  }
  return found;
}
