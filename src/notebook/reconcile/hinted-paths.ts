/** From hints to notes: which paths a hint of a file or a folder means, and whether it means anything. */
import type { RepoPath } from "../../domain/note.ts";
import { folderOf } from "../../lib/slash-path.ts";
import type { WorkTree } from "../../store/note-store.ts";
import type { Settling } from "./settling.ts";

/** So few files are asked for by a door that is about to serve them: the common answer must be cheap. */
const FEW = 16;

/**
 * The notes that hints name: files as they are, folders as what lies and lay in them.
 * @returns null: everything
 */
export async function hintedPaths(
  hints: readonly string[],
  workTree: WorkTree,
  settling: Settling,
): Promise<Set<RepoPath> | null> {
  const paths = new Set<RepoPath>();
  const folders = new Set<string>();
  for (const hint of hints.map((text) => text.replace(/\/+$/, ""))) {
    if (hint === "" || hint === ".") return null;
    // A path of the working tree, relative: what RepoPath means.
    if (hint.endsWith(".md")) paths.add(hint as RepoPath);
    else folders.add(hint);
  }
  if (folders.size === 0) return paths;
  const within = (path: string) => {
    for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder)) {
      if (folders.has(folder)) return true;
    }
    return false;
  };
  for (const folder of folders) {
    if (within(folder)) continue;
    for (const path of await workTree.under(folder)) paths.add(path);
    for (const path of workTree.basePaths(folder)) paths.add(path);
  }
  for (const { path } of settling.all()) if (within(path)) paths.add(path);
  return paths;
}

/**
 * Whether these are few notes whose files hold what they were last known to hold: then nobody edited them.
 * @cost one look at each file; no look at the branch
 */
export async function untouched(
  hints: readonly string[],
  workTree: WorkTree,
  settling: Settling,
): Promise<boolean> {
  if (hints.length > FEW || !hints.every((hint) => hint.endsWith(".md"))) return false;
  // Relative paths of notes, as hints are.
  const paths = hints as readonly RepoPath[];
  if (paths.some((path) => settling.get(path) !== undefined)) return false;
  const files = await workTree.scan(paths);
  return files.every((file) => {
    const disk = file.kind === "file" ? file.blob : null;
    return file.kind !== "unfit" && disk === workTree.base(file.path);
  });
}
