/**
 * Who removes an expired note, and when: at once the daemon that made the save which fixed the expiry, the others of
 * its remote a day later, should that one never come back. So one note is removed by one daemon.
 *
 * @see spec: storage, section 6
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import type { ExpiredFile, HistoryRow, NoteIndex } from "../../index/note-index.ts";
import type { NoteStore } from "../../store/note-store.ts";

/** What others wait beyond a note's expiry, and the most that each adds of its own. */
export const OTHERS_WAIT_MS = 24 * 3_600_000;
export const JITTER_MS = 3_600_000;

/** So far back it is looked for the save that fixed an expiry; the oldest of them counts for it then. */
const ROWS_LOOKED_AT = 64;

interface WhoseDeps {
  readonly store: Pick<NoteStore, "readBlob">;
  readonly index: Pick<NoteIndex, "history" | "noteAt">;
  /** Whether a proved commit was made by this daemon: another may have the same key. */
  readonly madeHere: (commit: CommitId) => Promise<boolean>;
}

/**
 * Whether this daemon made the save that fixed a note's expiry. An unproved one is nobody's.
 * @cost the blob of each revision since that save, and of the one before it
 */
export async function isOurExpiry(deps: WhoseDeps, file: ExpiredFile): Promise<boolean> {
  const save = await saveThatFixed(deps, file);
  if (save === null || save.source === "git") return false;
  try {
    return await deps.madeHere(save.commit);
  } catch (error) {
    // Trigger: the record names heads that a purge took. Why: nobody knows any more. Outcome: it waits as others do.
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return false;
    throw error;
  }
}

async function saveThatFixed(
  { store, index }: WhoseDeps,
  { noteId, expiresMs }: ExpiredFile,
): Promise<HistoryRow | null> {
  const [newest, ...older] = index.history({ noteId }, ROWS_LOOKED_AT, null).items;
  if (newest === undefined) return null;
  let save = newest;
  for (const row of older) {
    const then =
      row.revision === null ? null : await index.noteAt(row.commit, row.path, (id) => store.readBlob(id));
    if (Date.parse(then?.metadata?.expires_at ?? "") !== expiresMs) break;
    save = row;
  }
  return save;
}
