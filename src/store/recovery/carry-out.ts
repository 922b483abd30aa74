/**
 * Brings files and Git index level with commits that the branch holds already, from their intents, under
 * Git's locks: after a crash, and after a publication that could not place everything.
 */

import { chmodSync } from "node:fs";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { fsyncFolder } from "../../lib/durable-file.ts";
import { type Entry, type EntryChange, sameEntry } from "../advance.ts";
import type { Intent, IntentFile, OpenIntent } from "../commit/intents.ts";
import { behindLink } from "../files/disk-look.ts";
import { lstatNow } from "../files/file-signature.ts";
import { isLinkLike, makeLink, removeLink } from "../files/links.ts";
import { permissionsOf } from "../files/prepare-files.ts";
import type { IndexEdit } from "../git-index/git-index.ts";
import { linkEdit } from "../git-index/link-edit.ts";
import { type HeldLocks, prepareAll } from "../refs/git-lock.ts";
import { readHead, readRef } from "../refs/refs.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { type RolledFile, rollFilesForward } from "./roll-forward.ts";

/** Working files and links that the disk refused, and why; their intents stand on. */
export type Refused = ReadonlyMap<RepoPath, unknown>;

/** Whether anything of an intent was refused. */
export const isRefused = (refused: Refused, { files, links = [] }: Intent): boolean =>
  [...files, ...links].some(({ path }) => refused.has(path));

/**
 * Carry out published intents. Locks of ours that a dead process left standing are taken over.
 *
 * @param intents oldest first, each with its new tip on the branch
 * @returns the files that could not be placed; Git index and all other files are level
 * @throws NotesError REPO_BUSY a lock that isn't ours; STORAGE. What was done stays, and can be called again
 */
export async function carryOut(parts: StoreParts, intents: readonly OpenIntent[]): Promise<Refused> {
  const { gitdir, ref, locks } = parts;
  const prepared = await prepareAll(
    locks,
    ["index", "HEAD", ref].map((name) => [name, ""]),
  );
  const held = await locks.acquire(prepared, { takeOver: true });
  let refused: Refused;
  try {
    refused = await withStorageErrors("placing working files", () => underLocks(parts, intents, held));
  } finally {
    parts.foreign.settle();
    held.release();
  }
  await withStorageErrors("syncing the Git directory", () => fsyncFolder(gitdir));
  return refused;
}

function underLocks(parts: StoreParts, intents: readonly OpenIntent[], held: HeldLocks): Refused {
  const { root, gitdir, ref, trees, objects, notes, table } = parts;
  const head = readHead(gitdir);
  // Another branch's files lie in the working tree: what is owed comes with the checkout of ours.
  if (head.kind !== "branch" || head.ref !== ref) return new Map();
  const tip = readRef(gitdir, ref);
  trees.start(tip === null ? null : treeOf(parts, tip));
  const tipBlob = (path: RepoPath) => trees.blobAt(path);
  const readBlob = (id: string) => objects.read("blob", id);
  const links = linksOwed(parts, intents);
  const refused = new Map<RepoPath, unknown>();
  const eachLink = (step: typeof removeLink) => {
    for (const link of links) {
      try {
        step(root, link, readBlob);
      } catch (error) {
        refused.set(link.path, error);
      }
    }
  };
  eachLink(removeLink);
  const rolled = rollFilesForward({ root, intents: parts.intents, readBlob, tipBlob }, intents);
  eachLink(makeLink);
  giveModes(parts, intents, rolled);
  levelIndex(parts, intents, rolled, held, links);
  for (const file of rolled) {
    if (file.kind === "refused") refused.set(file.path, file.error);
    else if (notes.file(file.path)) table.setBase(file.path, file.base);
  }
  table.write();
  return refused;
}

/** Links and submodules that the branch still has as the intents made them. */
function linksOwed({ trees }: StoreParts, intents: readonly OpenIntent[]): EntryChange[] {
  const all = intents.flatMap(({ intent, placed }) => (placed ? [] : (intent.links ?? [])));
  return all.filter(({ path, after }) => sameEntry(trees.entryAt(path), after) || isFileInstead(after));
}

/** A link that gave way to a file: it has gone all the same. */
const isFileInstead = (after: Entry | null) => after !== null && !isLinkLike(after);

/** A file that holds what it should may lack the permission that came with it. */
function giveModes(
  { root, trees }: StoreParts,
  intents: readonly OpenIntent[],
  rolled: readonly RolledFile[],
): void {
  const level = new Map(
    rolled.flatMap((one) => (one.kind === "rolled" ? [[one.path, one.base] as const] : [])),
  );
  for (const { intent, placed } of intents) {
    for (const { path, after, remode } of placed ? [] : intent.files) {
      const file = `${root}/${path}`;
      const stat = remode === undefined || behindLink(root, path) ? null : lstatNow(file);
      if (stat?.isFile() !== true || level.get(path) !== after || trees.blobAt(path) !== after) continue;
      chmodSync(file, permissionsOf(stat, remode));
    }
  }
}

function treeOf({ objects }: StoreParts, commit: string): string {
  return objects.read("commit", commit).toString("latin1", 5, 45);
}

function levelIndex(
  parts: StoreParts,
  intents: readonly OpenIntent[],
  rolled: readonly RolledFile[],
  held: HeldLocks,
  links: readonly EntryChange[],
): void {
  const owed = new Map<RepoPath, IntentFile[]>();
  const remoded = new Set<RepoPath>();
  for (const { intent, placed } of intents) {
    if (placed) continue;
    if (intent.links !== undefined) for (const { path } of intent.files) remoded.add(path);
    for (const file of intent.files) owed.set(file.path, [...(owed.get(file.path) ?? []), file]);
  }
  const { index } = parts.index.read();
  const edits: IndexEdit[] = [];
  for (const [path, files] of owed) {
    const after = files.at(-1)?.after ?? null;
    if (parts.trees.blobAt(path) !== after) continue;
    // Whatever state of ours the entry was left in; anything else is what a person staged.
    const entry = index.at(path).find((e) => e.stage === 0);
    const blob = (entry?.id ?? null) as BlobId | null;
    // Base: the branch had moved without files and index before.
    if (!files.some(({ before }) => before === blob) && parts.table.base(path) !== blob) continue;
    const stands = rolled.some((file) => file.kind === "rolled" && file.path === path && file.base === after);
    const stat = stands && after !== null ? lstatNow(`${parts.root}/${path}`) : null;
    const executable = parts.trees.isExecutable(path);
    const mode = remoded.has(path) ? { mode: executable ? 0o100755 : 0o100644 } : {};
    edits.push({ path, expected: blob, blob: after, stat, executable, ...mode });
  }
  for (const { path, before, after } of links) {
    const entry = index.at(path).find((e) => e.stage === 0)?.id ?? null;
    if (entry === (before?.id ?? null)) edits.push(linkEdit(path, before, after, entry));
  }
  if (edits.length === 0) return;
  const { index: next, bytes } = index.edit(edits);
  held.replace("index", bytes);
  held.publish("index");
  parts.index.wrote(next);
}
