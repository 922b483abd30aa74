/**
 * Where else in a repository's folder a text lies: files of the working tree, and files of the Git directory that are no
 * objects. Reads only; what is done about each is the caller's.
 */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import type { Forms } from "./forms.ts";

/** Larger files are no notes and no state of Git's; they are told, not read. */
const MOST_BYTES = 256 << 20;

export interface Remain {
  /** Relative to the folder that was looked through. */
  readonly path: string;
  /** `unread`: too large, or not allowed. */
  readonly why: "holds" | "named" | "unread";
}

/** Files of the Git directory but its objects. */
export function remainsInGitDir(gitdir: string, forms: Forms): Remain[] {
  return lookThrough(gitdir, forms, (path) => path === "objects");
}

/** Files of the working tree, tracked or not; other repositories in it are left to themselves. */
export function remainsInTree(root: string, forms: Forms): Remain[] {
  return lookThrough(root, forms, (path) => /(?:^|\/)\.git$/.test(path));
}

function lookThrough(top: string, forms: Forms, isLeft: (path: string) => boolean): Remain[] {
  const found: Remain[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(top, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (isLeft(path)) continue;
      const raw = Buffer.from(entry.name).toString("latin1");
      if (forms.replaceName(raw) !== raw) found.push({ path, why: "named" });
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) {
        const why = look(join(top, path), forms);
        if (why !== null) found.push({ path, why });
      }
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return orAbsent(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  } catch {
    // Trigger: a folder of another user. Outcome: nothing in it is ours to read or to clear.
    return [];
  }
}

function look(path: string, forms: Forms): Remain["why"] | null {
  try {
    const size = orAbsent(() => statSync(path).size);
    if (size === null) return null;
    if (size > MOST_BYTES) return "unread";
    const bytes = orAbsent(() => readFileSync(path));
    return bytes !== null && forms.holds(bytes) ? "holds" : null;
  } catch {
    // Trigger: not allowed to read it. Outcome: told, so that a person looks.
    return "unread";
  }
}
