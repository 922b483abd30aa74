/**
 * What a watcher of folders is, and how it tells one folder from another. Invariant: a watcher that lost
 * anything says `failed`.
 */
import { lstat, readdir } from "node:fs/promises";
import { errnoOf } from "../lib/durable-file.ts";

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

/** No folder any more, or one that we may not look into. */
const GONE_OR_CLOSED = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM"]);

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
    if (GONE_OR_CLOSED.has(errnoOf(error) ?? "")) return null;
    throw error;
  }
}

/** Names of the folders that lie in one; none when it is gone or may not be read, which its watch tells. */
export async function childFolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (GONE_OR_CLOSED.has(errnoOf(error) ?? "")) return [];
    throw error;
  }
}
