/**
 * Which fields of a note differ between two of its states, for `fields` of a change. One function for what is
 * happening and for what is read back from history, so that both say the same.
 */
import type { NoteMetadata } from "./note.ts";

const FIELDS = [
  "title",
  "type",
  "tags",
  "status",
  "scope",
  "scope_ref_id",
  "key",
  "pinned",
  "expires_at",
] as const satisfies readonly (keyof NoteMetadata)[];

/** A note that says nothing: what a new one is compared with. */
const NOTHING: Partial<NoteMetadata> = {
  title: "",
  type: "",
  tags: [],
  status: "open",
  scope: "workspace",
  pinned: false,
};

/** A state of a note. `metadata` null: the file can't be read as a note. */
export interface NoteState {
  readonly metadata: NoteMetadata | null;
  /** The body; of a file that can't be read as a note its whole text. */
  readonly content: string;
}

/**
 * Names of the metadata fields that changed, in the order of the metadata, then `path`, `extra.KEY` sorted,
 * and `content`. Dates, revision, trust and author are history's and never named. A note that comes into
 * being has every field that says something; one that goes has none.
 */
export function changedFields(before: NoteState | null, after: NoteState | null): string[] {
  if (after === null) return [];
  const from = before?.metadata ?? NOTHING;
  const to = after.metadata ?? NOTHING;
  const names: string[] = FIELDS.filter((name) => !same(from[name], to[name]));
  if (from.path !== undefined && to.path !== undefined && from.path !== to.path) names.push("path");
  const [extraFrom, extraTo] = [from.extra ?? {}, to.extra ?? {}];
  const keys = [...new Set([...Object.keys(extraFrom), ...Object.keys(extraTo)])].sort();
  const value = (extra: Readonly<Record<string, unknown>>, key: string) =>
    Object.hasOwn(extra, key) ? extra[key] : undefined;
  names.push(
    ...keys.filter((key) => !same(value(extraFrom, key), value(extraTo, key))).map((k) => `extra.${k}`),
  );
  if ((before?.content ?? "") !== after.content) names.push("content");
  return names;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
