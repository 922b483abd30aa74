/**
 * From two commits to what a merge of them changes in ours, and what it can't merge. Absence is a deletion only
 * relative to where they parted. Nothing is written here.
 * Invariant: every text of either side is in the result, in what both had, or among the conflicts.
 */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import { type Entry, type EntryChange, type EntryWish, sameEntry } from "../../store/advance.ts";
import type { NoteWords } from "../reconcile/reconciler.ts";
import { isFile } from "./entries.ts";
import { mergeEntry, type Sides, submoduleText } from "./merge-entry.ts";
import type { Parted } from "./parted.ts";
import { movedFiles } from "./renames.ts";

/** What stays with ours, and theirs that is kept beside it. */
export interface Clash {
  readonly path: RepoPath;
  /** Where our side has it: another path where theirs moved it. */
  readonly oursAt: RepoPath;
  readonly base: BlobId | null;
  readonly ours: BlobId | null;
  readonly theirs: BlobId;
  /** Theirs, where the repository holds no blob of it. */
  readonly bytes?: Uint8Array;
}

export interface MergePlan {
  readonly files: readonly EntryWish[];
  readonly clashes: readonly Clash[];
  /** Where our side has what now holds a text that is neither side's. */
  readonly merged: readonly RepoPath[];
}

export interface PlanDeps {
  readonly words: NoteWords;
  readonly isNote: (path: RepoPath) => boolean;
  readonly blobId: (bytes: Uint8Array) => BlobId;
}

/** Plan the merge of theirs into ours. @cost follows what theirs changed; the texts that both changed are read */
export async function planMerge(deps: PlanDeps, parted: Parted): Promise<MergePlan> {
  const wishes = new Map<RepoPath, EntryWish>();
  const clashes: Clash[] = [];
  const merged: RepoPath[] = [];
  const blob = (entry: Entry | null) =>
    isFile(entry) && parted.isStored(entry.id) ? (entry.id as BlobId) : null;
  const oursAt = (path: RepoPath) => {
    const mine = parted.ours.get(path);
    return mine === undefined ? (parted.theirs.get(path)?.before ?? null) : mine.after;
  };

  function wish(path: RepoPath, entry: Entry | null, bytes?: Uint8Array): void {
    const expected = oursAt(path);
    wishes.delete(path);
    if (!sameEntry(expected, entry))
      wishes.set(path, { path, expected, entry, ...(bytes === undefined ? {} : { bytes }) });
  }

  function clash({ path, base, ours, theirs }: Sides, from: RepoPath, bytes?: Uint8Array): void {
    if (theirs === null) return;
    // A link's entry is a blob too; a submodule comes with bytes that say what it is.
    const id = bytes === undefined ? (theirs.id as BlobId) : deps.blobId(bytes);
    clashes.push({
      path,
      oursAt: from,
      base: blob(base),
      ours: blob(ours),
      theirs: id,
      ...(bytes === undefined ? {} : { bytes }),
    });
  }

  async function mergeAt(sides: Sides, from: RepoPath): Promise<void> {
    const made = await mergeEntry({ ...deps, read: parted.read }, sides);
    if (made.kind === "conflict") clash(sides, from, made.theirs);
    else if (made.bytes !== undefined) merged.push(from);
    wish(sides.path, made.entry, made.kind === "merged" ? made.bytes : undefined);
  }

  const handled = new Set<RepoPath>();
  for (const { from, ours, theirs, to } of await movedFiles(deps, parted)) {
    for (const path of [from.path, ours, theirs]) handled.add(path);
    if (ours !== to) wish(ours, null);
    await mergeAt(
      {
        path: to,
        base: from.before,
        ours: parted.ours.get(ours)?.after ?? null,
        theirs: parted.theirs.get(theirs)?.after ?? null,
      },
      ours,
    );
  }
  const turn = slicer();
  for (const [path, { before, after }] of parted.theirs) {
    if (!handled.has(path)) await mergeAt({ path, base: before, ours: oursAt(path), theirs: after }, path);
    await turn();
  }
  for (const { path, entry, bytes } of obstructed(wishes, parted.ours)) {
    wishes.delete(path);
    clash({ path, base: null, ours: null, theirs: entry }, path, bytes ?? submoduleText(entry));
  }
  return { files: [...wishes.values()], clashes, merged };
}

/** New files for which ours has a file in place of a folder, or a folder in place of the file. */
function obstructed(
  wishes: ReadonlyMap<RepoPath, EntryWish>,
  ours: ReadonlyMap<RepoPath, EntryChange>,
): EntryWish[] {
  const stays = (path: string) => {
    // Looked up by what may be any path.
    const wished = wishes.get(path as RepoPath);
    if (wished !== undefined) return wished.entry !== null;
    return (ours.get(path as RepoPath)?.after ?? null) !== null;
  };
  const folders = new Set<string>();
  for (const path of [...ours.keys(), ...wishes.keys()])
    if (stays(path)) for (const folder of above(path)) folders.add(folder);
  return [...wishes.values()].filter(
    ({ path, expected, entry }) =>
      expected === null && entry !== null && (folders.has(path) || above(path).some(stays)),
  );
}

function above(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1))
    folders.push(path.slice(0, slash));
  return folders;
}
