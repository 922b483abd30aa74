/**
 * Files too large to be written at once: piece by piece, off the loop, and synced on the way so that nobody
 * else's sync waits for all of it. As `durable-file.ts` otherwise.
 */
import { promises } from "node:fs";
import { dirname } from "node:path";
import { besides, fsyncFolder } from "./durable-file.ts";

const UNSYNCED_MAX_BYTES = 4 << 20;

/**
 * Replace a file durably.
 * @param mode  permission bits of the new file before umask
 * @returns its bytes
 * @throws Node errors; the target is then as it was and no temporary file is left
 */
export async function writePiecesDurably(
  file: string,
  pieces: Iterable<Uint8Array>,
  mode = 0o644,
): Promise<number> {
  const temporary = besides(file);
  try {
    const handle = await promises.open(temporary, "wx", mode);
    const bytes = await writeSynced(handle, pieces, 0);
    await promises.rename(temporary, file);
    await fsyncFolder(dirname(file));
    return bytes;
  } catch (error) {
    await promises.rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Add to a file's end durably. After a power cut the file may hold a part of it.
 * @param at  where its end is believed to be
 * @returns the bytes that were added; null when its end wasn't there: the file is then as it was
 * @throws Node errors; a part may have been written
 */
export async function appendDurably(
  file: string,
  at: number,
  pieces: Iterable<Uint8Array>,
): Promise<number | null> {
  const handle = await promises.open(file, "r+");
  const { size } = await handle.stat();
  if (size === at) return writeSynced(handle, pieces, at);
  await handle.close();
  return null;
}

/** Write from a place on, sync, and close. */
async function writeSynced(
  handle: promises.FileHandle,
  pieces: Iterable<Uint8Array>,
  from: number,
): Promise<number> {
  try {
    let at = from;
    let unsynced = 0;
    for (const piece of pieces) {
      for (let done = 0; done < piece.length; ) {
        done += (await handle.write(piece, done, piece.length - done, at + done)).bytesWritten;
      }
      at += piece.length;
      unsynced += piece.length;
      if (unsynced < UNSYNCED_MAX_BYTES) continue;
      await handle.datasync();
      unsynced = 0;
    }
    await handle.sync();
    return at - from;
  } finally {
    await handle.close();
  }
}
