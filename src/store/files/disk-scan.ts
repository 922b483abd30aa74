/**
 * Which files lie under the roots: a walk that follows no link and gives the loop a turn every few
 * milliseconds. Only names are read here; what a file holds is `disk-look.ts`.
 */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf } from "../../lib/durable-file.ts";
import { slicer } from "../../lib/slicer.ts";
import { asStorageError } from "../storage-error.ts";
import type { PathFilter } from "../trees/tree-diff.ts";
import { behindLink } from "./disk-look.ts";

/**
 * Note paths below some folders, whatever kind of file lies there; links to folders are not entered.
 *
 * @param folders relative to the root; `.` or the empty text is the root itself; absent ones hold nothing
 * @throws NotesError STORAGE a folder can't be read
 */
export async function notePathsBelow(
  root: string,
  folders: Iterable<string>,
  notes: PathFilter,
): Promise<Set<RepoPath>> {
  const found = new Set<RepoPath>();
  const turn = slicer();
  const waiting = [...folders]
    .map((f) => f.replace(/^\.?\/?|\/+$/g, ""))
    .filter((f) => !behindLink(root, `${f}/x`));
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = entriesOf(join(root, folder));
    // The folder itself stands for what can't be seen in it, so that it is reported.
    if (entries === null) found.add(folder as RepoPath);
    for (const entry of entries ?? []) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (notes.folder(path)) waiting.push(path);
      } else if (notes.file(path as RepoPath)) {
        // Joined from names below the root, so it is relative and slash separated.
        found.add(path as RepoPath);
      }
    }
    const pause = turn();
    if (pause !== null) await pause;
  }
  return found;
}

/** Null: a folder that we may not read. */
function entriesOf(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = errnoOf(error);
    // Removed, or turned into a file, since its parent was read.
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    if (code === "EACCES" || code === "EPERM") return null;
    throw asStorageError(error, `reading the folder ${folder}`);
  }
}
