/**
 * The checkpoint on disk: written whole at first and whenever what was added since outgrows it, else only what is
 * new is added. The loop never waits for it: what is written is the index's own memory, piece by piece.
 * Invariant: a file that is not as it was left, by a crash or by somebody else, is written anew.
 */
import type { NoteIndex } from "../index/note-index.ts";
import { errnoOf } from "../lib/durable-file.ts";
import { appendDurably, writePiecesDurably } from "../lib/durable-pieces.ts";

/** Added bytes that are always worth keeping apart, and the share of the whole that is. */
const ADDED_MIN_BYTES = 1 << 20;
const ADDED_SHARE = 0.5;

/** @returns writes what is new; calls must not overlap @throws Node errors; the next call writes all of it */
export function createCheckpointFile(
  path: string,
  index: Pick<NoteIndex, "snapshot" | "origin">,
): () => Promise<void> {
  let held = index.origin;

  return async () => {
    const before = held;
    held = null;
    const worthAdding =
      before !== null &&
      before.bytes - before.wholeBytes <= ADDED_MIN_BYTES + before.wholeBytes * ADDED_SHARE;
    if (before && worthAdding) {
      const { whole, pieces, mark } = index.snapshot(before.mark);
      const added = whole ? null : await appended(path, before.bytes, pieces());
      if (added !== null) {
        held = { ...before, bytes: before.bytes + added, mark };
        return;
      }
    }
    const { pieces, mark } = index.snapshot(null);
    const bytes = await writePiecesDurably(path, pieces());
    held = { mark, bytes, wholeBytes: bytes };
  };
}

/** Null when the file isn't what it was. */
async function appended(path: string, at: number, pieces: Iterable<Uint8Array>): Promise<number | null> {
  try {
    return await appendDurably(path, at, pieces);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}
