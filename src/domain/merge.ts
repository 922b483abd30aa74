/**
 * Merging notes: a note is its keys and its lines. Which side a conflict leaves standing, and where the
 * other is kept, is the caller's; edit against delete too.
 * Invariant: a merge is whole or a conflict, never text with markers, and every key it took is one side's.
 */
import { diff3, type Hunk } from "./diff3.ts";
import { type FrontMatter, readFrontMatter, Unreadable, type Value } from "./front-matter.ts";
import { same, sameData, splice } from "./front-matter-splice.ts";
import { blobIdOf } from "./identity.ts";
import { parseInstant } from "./instant.ts";
import { tagsOf, textOf } from "./note-file.ts";
import { decodeNote, encodeNote } from "./note-text.ts";

export type Merge =
  | { readonly kind: "merged"; readonly bytes: Uint8Array }
  | {
      readonly kind: "conflict";
      /** Front-matter keys that both sides changed differently. */
      readonly keys: readonly string[];
      /** Regions of the body that both sides changed differently. */
      readonly hunks: readonly Hunk[];
      /** Why no merge was tried; null when keys and hunks tell it all. */
      readonly reason: string | null;
    };

type Side = "ours" | "theirs";

/**
 * Merge two changes of one note.
 *
 * @param base    the note both started from; null when each made it anew
 * @param prefer  take this side's keys and lines where both changed; without it that is a conflict
 * @returns bytes in the style of `ours`
 * @cost as `diff3`
 * @see spec: storage, section 5
 */
export function mergeNotes(
  base: Uint8Array | null,
  ours: Uint8Array,
  theirs: Uint8Array,
  prefer?: Side,
): Merge {
  if (equalBytes(ours, theirs) || equalBytes(base, theirs)) return { kind: "merged", bytes: ours };
  if (equalBytes(base, ours)) return { kind: "merged", bytes: theirs };
  try {
    const [b, o, t] = [readSide(base ?? new Uint8Array()), readSide(ours), readSide(theirs)];
    const keys = mergeKeys(b, o, t, prefer);
    const body = diff3(b.body, o.body, t.body, prefer ?? "ours");
    const open = prefer === undefined ? body.hunks : [];
    if (keys.conflicts.length > 0 || open.length > 0) {
      return { kind: "conflict", keys: keys.conflicts, hunks: open, reason: null };
    }
    const text = mergeHeads(b, o, t, keys.data) + body.text;
    const got = readFrontMatter(text);
    if (!sameData(got.data, keys.data) || got.body !== body.text)
      throw new Unreadable("the merge would read otherwise", null);
    return { kind: "merged", bytes: encodeNote(text) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    if (prefer !== undefined) return { kind: "merged", bytes: prefer === "ours" ? ours : theirs };
    return { kind: "conflict", keys: [], hunks: [], reason: error.message };
  }
}

/**
 * One base out of several merge bases: merged pairwise in the given order (commit ids ascending), and
 * what two of them changed differently taken from the smaller blob id.
 * @param ancestor  the note in a common ancestor of them all, if there is one
 */
export function mergeVirtualBase(
  bases: readonly Uint8Array[],
  ancestor: Uint8Array | null,
): Uint8Array | null {
  let merged: Uint8Array | null = null;
  for (const next of bases) {
    if (merged === null) {
      merged = next;
      continue;
    }
    const prefer: Side = blobIdOf(merged) <= blobIdOf(next) ? "ours" : "theirs";
    const step: Merge = mergeNotes(ancestor, merged, next, prefer);
    merged = step.kind === "merged" ? step.bytes : prefer === "ours" ? merged : next;
  }
  return merged;
}

function equalBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

function readSide(bytes: Uint8Array): FrontMatter {
  const decoded = decodeNote(bytes);
  if (decoded.kind === "foreign") throw new Unreadable(decoded.reason, decoded.line);
  return readFrontMatter(decoded.text);
}

type Data = ReadonlyMap<string, Value>;

/** What names a note: never a matter of who wrote last. */
const IDENTITY = new Set(["id", "key", "scope", "scope_ref_id", "agent_id", "agent_name"]);
const LATER = new Set(["updated_at", "modified"]);

function mergeKeys(base: FrontMatter, ours: FrontMatter, theirs: FrontMatter, prefer?: Side) {
  const data = new Map<string, Value>();
  const conflicts: string[] = [];
  for (const key of new Set([...ours.data.keys(), ...theirs.data.keys()])) {
    const [b, o, t] = [base.data.get(key), ours.data.get(key), theirs.data.get(key)];
    const taken =
      same(o, t) || same(t, b) ? { value: o } : same(o, b) ? { value: t } : mergeKey(key, base, ours, theirs);
    if (taken === null) conflicts.push(key);
    const value = taken === null ? (prefer === "theirs" ? t : o) : taken.value;
    if (value !== undefined) data.set(key, value);
  }
  return { data, conflicts: prefer === undefined ? conflicts : [] };
}

/** A key that both sides changed, each in its way; null: that is a conflict. */
function mergeKey(
  key: string,
  base: FrontMatter,
  ours: FrontMatter,
  theirs: FrontMatter,
): { value: Value | undefined } | null {
  const [b, o, t] = [base.data.get(key), ours.data.get(key), theirs.data.get(key)];
  if (key === "tags") return mergeTags(b, o, t);
  if (IDENTITY.has(key)) return { value: base.data.size > 0 ? b : isOlder(ours, theirs) ? o : t };
  if (LATER.has(key) || key === "created_at") {
    const [ourTime, theirTime] = [instantOf(o), instantOf(t)];
    if (ourTime === null || theirTime === null)
      return ourTime === theirTime ? null : { value: ourTime === null ? t : o };
    return { value: LATER.has(key) === ourTime >= theirTime ? o : t };
  }
  return null;
}

const instantOf = (value: Value | undefined) => parseInstant(textOf(value ?? null) ?? "");

function isOlder(ours: FrontMatter, theirs: FrontMatter): boolean {
  const [o, t] = [instantOf(ours.data.get("created_at")), instantOf(theirs.data.get("created_at"))];
  if (o !== t && o !== null && t !== null) return o < t;
  return (o !== null && t === null) || (ours.block ?? "") <= (theirs.block ?? "");
}

/** Sets: what either side added is there, what either took away is gone; in our order, then theirs. */
function mergeTags(base?: Value, ours?: Value, theirs?: Value): { value: Value | undefined } | null {
  const read = (value: Value | undefined) => (value === undefined || value === null ? [] : tagsOf(value));
  const [b, o, t] = [read(base), read(ours), read(theirs)];
  if (b === null || o === null || t === null) return null;
  const kept = o.filter((tag) => t.includes(tag) || !b.includes(tag));
  const merged = [...kept, ...t.filter((tag) => !kept.includes(tag) && !b.includes(tag))];
  const inWords = typeof ours === "string" && merged.every((tag) => !tag.includes(",") && tag === tag.trim());
  return { value: inWords && merged.length > 0 ? merged.join(", ") : merged };
}

const headOf = ({ bom, open, block, close }: FrontMatter) => bom + open + (block ?? "") + close;

/** The merged head: by lines where that gives the wanted keys, so that both sides' comments stay; else spliced into ours. */
function mergeHeads(base: FrontMatter, ours: FrontMatter, theirs: FrontMatter, wanted: Data): string {
  const byLines = diff3(headOf(base), headOf(ours), headOf(theirs));
  if (byLines.hunks.length === 0 && reads(byLines.text, wanted)) return byLines.text;
  const patch = new Map<string, Value | undefined>(wanted);
  for (const key of ours.data.keys()) if (!wanted.has(key)) patch.set(key, undefined);
  return headOf(readFrontMatter(splice(headOf(ours), patch)));
}

function reads(head: string, wanted: Data): boolean {
  try {
    const read = readFrontMatter(head);
    return read.body === "" && sameData(read.data, wanted);
  } catch (error) {
    // Trigger: lines of both sides that make no front matter together. Why: only a first try. Outcome: spliced instead.
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
