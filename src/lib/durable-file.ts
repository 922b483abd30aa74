/**
 * Files that survive a power cut: written beside the target, synced, renamed, and the folder synced too.
 * A reader sees the old bytes or the new ones, never a part. What the bytes mean is nobody's business here.
 * Errors are Node's own (`ENOSPC`, `EROFS`, …); callers translate them.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fdatasync,
  fsync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

interface WriteOptions {
  /** Permission bits of a new file before umask; 0o644 when absent. */
  readonly mode?: number;
  /** Write over a file of this name that a crash left; else it must not exist. */
  readonly over?: boolean;
}

const fsyncLater = promisify(fsync);
const fdatasyncLater = promisify(fdatasync);
const writeLater = promisify(write);
const nextTurn = promisify(setImmediate);

/** Up to here a write into the page cache costs less than the way to the thread pool and back. */
const SMALL_BYTES = 64 << 10;

/** A name in the target's folder that no other process takes; hidden, so that Git never reads it as a ref. */
export const besides = (file: string) =>
  join(dirname(file), `.${basename(file)}.${randomBytes(6).toString("hex")}.tmp`);

/**
 * Replace a file durably without blocking the loop: on return the new bytes outlive a power cut.
 * @param bytes all of them, or parts that are written one after the other, with turns of the loop in between
 * @throws Node errors; the target is then as it was and no temporary file is left
 * @cost one fdatasync and one fsync of the folder
 */
export async function writeDurably(
  file: string,
  bytes: Uint8Array | string | AsyncIterable<string>,
  options: WriteOptions = {},
) {
  const temporary = besides(file);
  await writeSynced(temporary, bytes, options);
  try {
    renameSync(temporary, file);
  } catch (error) {
    dropFailed(temporary);
    throw error;
  }
  await fsyncFolder(dirname(file));
}

/**
 * Create a file, its content synced without blocking the loop; the folder is not synced.
 * @throws Node errors, `EEXIST` among them; nothing is left behind by a failed write
 * @cost one fdatasync; only that, and the writing of what is large, goes through the thread pool
 */
export async function writeSynced(
  file: string,
  bytes: Uint8Array | string | AsyncIterable<string>,
  options: WriteOptions = {},
): Promise<void> {
  const fd = openSync(file, options.over === true ? "w" : "wx", options.mode ?? 0o644);
  try {
    const whole = typeof bytes === "string" || bytes instanceof Uint8Array;
    if (whole) await writePart(fd, bytes);
    else for await (const part of bytes) await writePart(fd, part);
    await syncContent(fd);
  } catch (error) {
    dropFailed(file);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Sync what was written to an open file, off the loop. @cost one fdatasync */
export async function syncContent(fd: number): Promise<void> {
  // Files of one turn are all made before any of them is synced: the syncs run side by side, and none is in the way of a creation.
  await nextTurn();
  await fdatasyncLater(fd);
}

async function writePart(fd: number, bytes: Uint8Array | string): Promise<void> {
  const buffer = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  if (buffer.length <= SMALL_BYTES) writeAllSync(fd, buffer);
  else await writeAll(fd, buffer);
}

/** `write(2)` may take a part when the disk is nearly full. */
async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeLater(fd, bytes, done, bytes.length - done, null);
    done += bytesWritten;
  }
}

/** As `writeDurably`, for code that must not be interleaved (under a lock, at start). Blocks the loop. */
export function writeDurablySync(file: string, bytes: Uint8Array | string, options: WriteOptions = {}): void {
  const temporary = besides(file);
  writeNewSync(temporary, bytes, options);
  try {
    renameSync(temporary, file);
  } catch (error) {
    dropFailed(temporary);
    throw error;
  }
  fsyncFolderSync(dirname(file));
}

/**
 * Create a file that must not exist, with synced content (the folder is not synced).
 * @throws Node errors, `EEXIST` among them; nothing is left behind by a failed write
 */
export function writeNewSync(file: string, bytes: Uint8Array | string, options: WriteOptions = {}): void {
  const fd = openSync(file, "wx", options.mode ?? 0o644);
  try {
    writeAllSync(fd, bytes);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    dropFailed(file);
    throw error;
  }
  closeSync(fd);
}

/**
 * Write every byte: `write(2)` may take a part when the disk is nearly full.
 * @param at offset in the file; where the last write ended when absent
 */
export function writeAllSync(fd: number, bytes: Uint8Array | string, at?: number): void {
  const buffer = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  for (let done = 0; done < buffer.length; )
    done += writeSync(fd, buffer, done, buffer.length - done, at === undefined ? null : at + done);
}

/** Make renames, links and removals in a folder durable, off the loop. */
export async function fsyncFolder(folder: string): Promise<void> {
  const fd = openSync(folder, "r");
  try {
    await fsyncLater(fd);
  } finally {
    closeSync(fd);
  }
}

/** As `fsyncFolder`, blocking. */
function fsyncFolderSync(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Do what needs a folder, and again when the folder was missing: it nearly never is, so it isn't looked for. */
export function inFolder<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    mkdirSync(folder, { recursive: true });
    return work();
  }
}

/** Remove what a failed write left. Why that failed is what the caller must hear, not that this fails too. */
function dropFailed(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Trigger: it was renamed after all, or the disk refuses this too. Outcome: cleared at the next start.
  }
}

/**
 * Give a file a second name. False when that name is taken; the taken file is untouched. An error leaves open whether
 * the link was made (a network file system asks twice): the name itself says.
 */
export function linkInto(file: string, name: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (error) {
    if (isSameFile(file, name)) return true;
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Whether two names are of one file. False too when that can't be seen. */
export function isSameFile(a: string, b: string): boolean {
  try {
    const [one, other] = [a, b].map((name) => lstatSync(name, { bigint: true }));
    return one?.ino === other?.ino && one?.dev === other?.dev;
  } catch {
    // Trigger: one of them is absent, or the disk refuses. Why: the caller has an error of its own. Outcome: it is told.
    return false;
  }
}

/** The `code` of a Node system error (`ENOENT`, …), or null for anything else. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Run `read` and return null instead when the file or a folder above it is absent. */
export function orAbsent<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}
