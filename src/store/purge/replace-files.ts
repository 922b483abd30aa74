/**
 * Working files that hold what the old history held: each gets its new content, or goes. One that a person changed since
 * stays as it is and is told.
 */
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import { blobId, type ObjectId } from "../objects/object-id.ts";
import type { PurgePlan } from "./plan-file.ts";

type PlannedFile = PurgePlan["files"][number];

const LINK = "120000";

/**
 * Bring the files level. Safe to repeat.
 * @param read bytes of a new content
 * @returns paths of files that hold neither the old content nor the new one
 */
export function replaceFiles(
  root: string,
  files: readonly PlannedFile[],
  read: (id: ObjectId) => Buffer,
): string[] {
  return files.filter((file) => !replaced(root, file, read)).map(({ path }) => path);
}

function replaced(
  root: string,
  { path, mode, blob, to }: PlannedFile,
  read: (id: ObjectId) => Buffer,
): boolean {
  const at = join(root, path);
  const held = contentOf(at);
  // Absent: removed by a person, or by us before a kill.
  if (held === null) return true;
  if (to !== null && to.path === path && held.id === to.blob) return true;
  if (held.id !== blob) return false;
  if (to !== null) {
    const target = join(root, to.path);
    const inTheWay = to.path === path ? null : contentOf(target);
    if (inTheWay !== null && inTheWay.id !== to.blob) return false;
    mkdirSync(dirname(target), { recursive: true });
    if (mode === LINK) {
      orAbsent(() => unlinkSync(target));
      symlinkSync(read(to.blob), target);
    } else writeDurablySync(target, read(to.blob), { mode: held.mode });
  }
  if (to?.path !== path) {
    unlinkSync(at);
    removeEmpty(root, dirname(path));
  }
  return true;
}

/** A regular file or a link; null: there is none, or something else stands there. */
function contentOf(at: string): { readonly id: ObjectId; readonly mode: number } | null {
  const stat = orAbsent(() => lstatSync(at));
  if (stat?.isSymbolicLink()) return { id: blobId(Buffer.from(readlinkSync(at))), mode: 0o777 };
  return stat?.isFile() ? { id: blobId(readFileSync(at)), mode: stat.mode & 0o777 } : null;
}

function removeEmpty(root: string, folder: string): void {
  for (let at = folder; at !== "." && at !== ""; at = dirname(at)) {
    try {
      rmdirSync(join(root, at));
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(errnoOf(error) ?? "")) return;
      throw error;
    }
  }
}
