/**
 * What a watcher of folders is, and how it tells one folder from another. Invariant: a watcher that lost
 * anything says `failed`.
 */
import { lstat } from "node:fs/promises";

export interface WatchReport {
  /** Something happened at this file or folder, relative to the working tree, `/` separated. */
  changed(path: string): void;
  /** The watcher broke, or can't watch all it should: look at everything, now and from time to time. */
  failed(error: unknown): void;
}

export interface FolderWatcher {
  /** Watch folders that appeared or were made again unseen. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Which folders may hold notes: those under the roots and those that lead to one, without dot folders. */
export function watchedFolder(roots: readonly string[]): (folder: string) => boolean {
  const leftOut = (name: string) => name.startsWith(".") || name === "node_modules";
  return (folder) => {
    if (folder === "") return true;
    if (roots.some((root) => root === folder || root.startsWith(`${folder}/`))) return true;
    const inside = roots.some((root) => root === "." || folder.startsWith(`${root}/`));
    return inside && !folder.split("/").some(leftOut);
  };
}

/**
 * What tells one folder from another that lies at its path later: inode numbers are used again at once, so the
 * time of birth belongs to it (where the file system has none, the time of the last change stands in).
 * @returns null when there is no folder
 */
export async function folderIdentity(folder: string): Promise<string | null> {
  try {
    const stats = await lstat(folder, { bigint: true });
    return stats.isDirectory() ? `${stats.ino}:${stats.birthtimeNs}` : null;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
}

/** The `code` of a system error, as `ENOENT`. */
export const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** The folder of a relative path; "" is the working tree itself. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
