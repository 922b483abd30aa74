/** Working files and the folders on their way made to outlive a power cut. Which of them, and when, is the caller's. */
import { closeSync, constants, fdatasync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf, fsyncFolder } from "../../lib/durable-file.ts";

/** A busy loop comes round some thirty times a second, and each time so many syncs begin. */
const SYNCS_AT_ONCE = 16;

const fdatasyncLater = promisify(fdatasync);

/**
 * Sync files and their folders; one that is gone or no plain file any more has nothing to sync.
 * @throws Node errors
 * @cost a sync a file and a folder, through the thread pool, several at once
 */
export async function syncFiles(root: string, paths: Iterable<RepoPath>): Promise<void> {
  const files = [...paths];
  const folders = new Set(files.flatMap((path) => foldersOf(path)));
  await severalAtOnce(files, (path) => syncFile(join(root, path)));
  await severalAtOnce([...folders], (folder) => fsyncFolder(join(root, folder)));
}

async function severalAtOnce<T>(all: T[], sync: (one: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let one = all.pop(); one !== undefined; one = all.pop()) await ignoringAbsence(() => sync(one));
  };
  await Promise.all(Array.from({ length: Math.min(SYNCS_AT_ONCE, all.length) }, worker));
}

/** Every folder on the way: each may have been made for the file. */
function foldersOf(path: RepoPath): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.push(folder);
  return [...folders, "."];
}

/** Opened in place: the way to the thread pool and back takes longer, and a busy loop comes round for it only seldom. */
async function syncFile(file: string): Promise<void> {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await fdatasyncLater(fd);
  } finally {
    closeSync(fd);
  }
}

async function ignoringAbsence(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw error;
  }
}
