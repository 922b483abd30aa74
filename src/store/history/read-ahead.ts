/**
 * Blobs that a thread read with the history that names them, for whoever folds it: each is given once, and soon. Of
 * one history the last few batches are held; what is not here is read as any other.
 */
import type { BlobId } from "../../domain/note.ts";

/** Blobs one after the other. Plain data: it crosses from a thread. */
export interface BlobBatch {
  readonly ids: readonly BlobId[];
  /** Where each ends. */
  readonly ends: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ReadAhead {
  /** The bytes, proved by their id; undefined: read it yourself. */
  take(id: BlobId): Buffer | undefined;
  /** Begin to hold what comes with one history, until it is closed. */
  open(): { put(batch: BlobBatch): void; close(): void };
}

/** A batch is folded with its neighbour, and read one behind the other. */
const BATCHES_HELD = 4;
/** What goes with one batch: larger blobs, and more, are read where they are wanted. */
const BATCH_BYTES = 4 << 20;

export function readAhead(): ReadAhead {
  const histories = new Set<Map<BlobId, Buffer>[]>();
  return {
    take(id) {
      for (const batches of histories) {
        for (const blobs of batches) {
          const found = blobs.get(id);
          if (found === undefined) continue;
          blobs.delete(id);
          return found;
        }
      }
      return undefined;
    },
    open() {
      const batches: Map<BlobId, Buffer>[] = [];
      histories.add(batches);
      return {
        put({ ids, ends, bytes }) {
          const blobs = new Map<BlobId, Buffer>();
          for (const [i, id] of ids.entries()) {
            const from = i === 0 ? 0 : (ends[i - 1] ?? 0);
            blobs.set(id, Buffer.from(bytes.buffer, from, (ends[i] ?? from) - from));
          }
          batches.push(blobs);
          if (batches.length > BATCHES_HELD) batches.shift();
        },
        close: () => void histories.delete(batches),
      };
    },
  };
}

/** Read blobs for a batch. @param read  what it throws is met again by whoever wants that blob */
export function blobBatch(ids: Iterable<BlobId>, read: (id: BlobId) => Uint8Array): BlobBatch {
  const taken: BlobId[] = [];
  const ends: number[] = [];
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (const id of new Set(ids)) {
    if (size > BATCH_BYTES) break;
    const piece = orNull(() => read(id));
    if (piece === null || piece.length > BATCH_BYTES / 4) continue;
    size += piece.length;
    taken.push(id);
    ends.push(size);
    pieces.push(piece);
  }
  const bytes = new Uint8Array(size);
  for (const [i, piece] of pieces.entries()) bytes.set(piece, (ends[i] ?? 0) - piece.length);
  return { ids: taken, ends, bytes };
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    // Trigger: a blob that is missing or damaged. Outcome: whoever folds it reads it again, and tells.
    return null;
  }
}
