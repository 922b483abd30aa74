/**
 * Hand edits that don't merge with what the branch gained: the person's text is kept as a conflict of the note, and the
 * file waits as it is. Invariant: what is kept for a path goes when a later save of that path is on the branch.
 */
import type { NoteId, RepoPath } from "../../domain/note.ts";
import type { Clock } from "../../lib/clock.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { Standing } from "./looking.ts";
import type { Settling } from "./settling.ts";

export interface KeptConflicts {
  /** Keep what lies on the disk; the file stays as it is and waits. */
  keep(standing: Standing, theirs: Uint8Array, noteId: NoteId): Promise<void>;
  /** The path is committed or level: conflicts that only held its earlier saves are resolved by it. */
  resolved(path: RepoPath): Promise<void>;
}

/** Begin with none kept by this process. */
export function keptConflicts({
  store,
  clock,
  settling,
}: {
  readonly store: Pick<NoteStore, "keepConflict" | "conflicts" | "dropConflicts">;
  readonly clock: Clock;
  readonly settling: Settling;
}): KeptConflicts {
  /** Texts kept for a path since it last was level. */
  const kept = new Map<RepoPath, { noteId: string; theirs: Set<string> }>();

  return {
    async keep({ path, base, tip, disk }, theirs, noteId) {
      if (disk === null) return;
      const since = new Date(clock.now()).toISOString();
      await store.keepConflict({ note_id: noteId, path, base, ours: tip, theirs: disk, since }, theirs);
      const clash = kept.get(path) ?? { noteId, theirs: new Set() };
      kept.set(path, clash);
      clash.theirs.add(disk);
      settling.hold(path, "conflict");
    },
    async resolved(path) {
      const clash = kept.get(path);
      if (clash === undefined) return;
      kept.delete(path);
      const open = (await store.conflicts()).filter((conflict) => conflict.note_id === clash.noteId);
      if (open.every((conflict) => clash.theirs.has(conflict.theirs)))
        await store.dropConflicts(clash.noteId);
    },
  };
}
