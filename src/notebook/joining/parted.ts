/**
 * What two sides made of where they parted. With several merge bases that is a virtual one: they are merged pairwise
 * in commit-id order, and what two of them changed differently is taken from the smaller blob id, so that every
 * daemon finds the same. Nothing is written here.
 */
import { blobIdOf } from "../../domain/identity.ts";
import { mergeVirtualBase } from "../../domain/merge.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { type Entry, type EntryChange, sameEntry } from "../../store/advance.ts";
import type { NoteStore } from "../../store/note-store.ts";
import { isFile } from "./entries.ts";

export interface Parted {
  /** By path, what each side changed since. */
  readonly ours: ReadonlyMap<RepoPath, EntryChange>;
  readonly theirs: ReadonlyMap<RepoPath, EntryChange>;
  /** Bytes of a blob of either side or of the base. */
  read(id: string): Promise<Uint8Array>;
  /** Whether the repository holds this blob: a virtual base's may exist nowhere. */
  isStored(id: string): boolean;
}

/** Where ours is to stand whole. */
export const NOTHING: Parted = {
  ours: new Map(),
  theirs: new Map(),
  read: () => Promise.reject(new Error("nothing parted, so nothing is read")),
  isStored: () => true,
};

type Deps = Pick<NoteStore, "mergeBases" | "entries" | "entryAt" | "readBlob">;

/**
 * Compare both sides with where they parted.
 * @returns null: they share no history
 * @cost the difference of each side to the base, and for several bases of each side to each
 */
export async function whatParted(store: Deps, ours: CommitId, theirs: CommitId): Promise<Parted | null> {
  const bases = [...(await store.mergeBases(ours, theirs))].sort();
  const [base] = bases;
  if (base === undefined) return null;
  // The ids are of blobs: entries of other kinds are not read.
  const read = (id: string) => store.readBlob(id as BlobId);
  if (bases.length > 1) return manyBases(store, bases, ours, theirs, read);
  const changed = async (side: CommitId) => byPath(await store.entries(base, side));
  return { ours: await changed(ours), theirs: await changed(theirs), read, isStored: () => true };
}

const byPath = (changes: readonly EntryChange[]) => new Map(changes.map((change) => [change.path, change]));

async function manyBases(
  store: Deps,
  bases: readonly CommitId[],
  ours: CommitId,
  theirs: CommitId,
  read: Parted["read"],
): Promise<Parted> {
  const made = new Map<string, Uint8Array>();
  const bytesOf = async (id: string) => made.get(id) ?? (await read(id));
  const paths = new Set<RepoPath>();
  for (const base of bases)
    for (const side of [ours, theirs])
      for (const { path } of await store.entries(base, side)) paths.add(path);
  const [first, second] = bases;
  const [ancestor = null] =
    first === undefined || second === undefined ? [] : [...(await store.mergeBases(first, second))].sort();
  const sides: { readonly [side in "ours" | "theirs"]: Map<RepoPath, EntryChange> } = {
    ours: new Map(),
    theirs: new Map(),
  };
  for (const path of paths) {
    const common = ancestor === null ? null : await store.entryAt(ancestor, path);
    let before = first === undefined ? null : await store.entryAt(first, path);
    for (const base of bases.slice(1))
      before = await virtual(bytesOf, made, before, await store.entryAt(base, path), common);
    for (const [side, commit] of [
      ["ours", ours],
      ["theirs", theirs],
    ] as const) {
      const after = await store.entryAt(commit, path);
      if (!sameEntry(before, after)) sides[side].set(path, { path, before, after });
    }
  }
  return { ...sides, read: bytesOf, isStored: (id) => !made.has(id) };
}

/** Two bases' word for one path; an edit stays where the other deleted. */
async function virtual(
  bytesOf: (id: string) => Promise<Uint8Array>,
  made: Map<string, Uint8Array>,
  a: Entry | null,
  b: Entry | null,
  common: Entry | null,
): Promise<Entry | null> {
  if (sameEntry(a, b) || sameEntry(b, common)) return a;
  if (sameEntry(a, common)) return b;
  if (a === null || b === null) return a ?? b;
  if (!isFile(a) || !isFile(b)) return a.id <= b.id ? a : b;
  const ancestor = isFile(common) ? await bytesOf(common.id) : null;
  const bytes = mergeVirtualBase([await bytesOf(a.id), await bytesOf(b.id)], ancestor) ?? new Uint8Array();
  const id = blobIdOf(bytes);
  if (id !== a.id && id !== b.id) made.set(id, bytes);
  return { mode: a.mode === common?.mode ? b.mode : a.mode, id };
}
