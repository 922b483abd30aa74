/**
 * Links and submodules of a move: what is no file of bytes, so that no intent's prepared file stands for it. A link is
 * made or taken away only where nothing stands, or the link that the branch had. Synchronous: it runs under Git's
 * locks, and again at a start that finds the intent.
 */
import { mkdirSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf, inFolder } from "../../lib/durable-file.ts";
import type { Entry, EntryChange } from "../advance.ts";
import { behindLink } from "./disk-look.ts";
import { lstatNow } from "./file-signature.ts";

const LINK = "120000";
const SUBMODULE = "160000";

/** An entry that is no regular file. */
export const isLinkLike = (entry: Entry | null) => entry?.mode === LINK || entry?.mode === SUBMODULE;

/** Where a link's entry points, in raw bytes. */
export type ReadTarget = (id: string) => Uint8Array;

/** Whether this very link stands there. */
export function standsAsLink(root: string, path: RepoPath, entry: Entry, readTarget: ReadTarget): boolean {
  const file = join(root, path);
  if (entry.mode !== LINK || behindLink(root, path) || lstatNow(file)?.isSymbolicLink() !== true)
    return false;
  return readlinkSync(file, "buffer").equals(readTarget(entry.id));
}

/** Take away what the branch no longer has. What a person put there stays. */
export function removeLink(root: string, { path, before }: EntryChange, readTarget: ReadTarget): void {
  if (before?.mode === SUBMODULE) removeFolder(join(root, path));
  else if (before !== null && standsAsLink(root, path, before, readTarget)) unlinkSync(join(root, path));
}

/** Make what the branch has now, where nothing stands. A submodule is an empty folder, as Git leaves it. */
export function makeLink(root: string, { path, after }: EntryChange, readTarget: ReadTarget): void {
  const file = join(root, path);
  if (after === null || behindLink(root, path) || lstatNow(file) !== null) return;
  if (after.mode === SUBMODULE) mkdirSync(file, { recursive: true });
  else if (after.mode === LINK)
    inFolder(dirname(file), () => symlinkSync(Buffer.from(readTarget(after.id)), file));
}

/** Take an empty folder away; one that holds anything stays. */
export function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
  }
}
