/** Memory as callers ask for it: one by its names, or those in sight. Looks only; nothing here writes. */
import type { Change } from "../domain/change.ts";
import type { MemoryKey } from "../domain/identity.ts";
import { memoryOf } from "../domain/memory/plan-save.ts";
import { isExpired, type NoteId, type NoteMetadata, type RepoPath } from "../domain/note.ts";
import { memoryPath } from "../domain/note-path.ts";
import type { MemoryFileQuery, MemoryFileRow } from "../index/memory/memory-files.ts";
import type { NoteIndex, RecallQuery, RecallRow } from "../index/note-index.ts";

/** What of a notebook is about memory alone. */
export interface Memories {
  /** The memory that there is under these names; null: none, one that has expired, or no readable file. @cost a look-up */
  memory(key: MemoryKey): NoteMetadata | null;
  /** Memory in sight: pinned first where the pin counts, then newest. @cost a look at a few columns of each memory in the notebooks asked */
  recall(query: Omit<RecallQuery, "nowMs">): { readonly rows: readonly RecallRow[]; readonly total: number };
  /** An agent's memory of scope `agent` by key and size. @cost its notebook; no body is read */
  memoryFiles(query: Omit<MemoryFileQuery, "nowMs">): readonly MemoryFileRow[];
  /** The name that an agent's commits bear; null: none has this id. */
  agentName(agentId: number): string | null;
}

/** Make the look-ups of one notebook. */
export function createMemories(
  index: Pick<NoteIndex, "idAt" | "get" | "quarantine" | "recall" | "memoryFiles" | "agents">,
  nowMs: () => number,
): Memories {
  return {
    memory(key) {
      const id = index.idAt(memoryPath(key));
      const note = id === null || index.quarantine(id) !== null ? null : index.get(id);
      return note === null || isExpired(note, nowMs()) ? null : note;
    },
    recall: (query) => index.recall({ ...query, nowMs: nowMs() }),
    memoryFiles: (query) => index.memoryFiles({ ...query, nowMs: nowMs() }),
    agentName: (agentId) => index.agents().find((agent) => agent.agentId === agentId)?.name ?? null,
  };
}

/** Where the file lies that a change is of; null: none yet. @throws NotesError INVALID_PARAMS no memory has such names */
export function pathOf(index: Pick<NoteIndex, "get">, change: Change): RepoPath | null {
  if (change.kind === "create") return null;
  if (change.kind === "save") return memoryPath(memoryOf(change));
  // Paths of the index are checked ones.
  return (index.get(change.noteId)?.path ?? null) as RepoPath | null;
}

/** The id of the file that lies at a memory's path, whatever that file is. */
export const idAtPathOf = (
  index: Pick<NoteIndex, "idAt">,
  change: Extract<Change, { kind: "save" | "move" }>,
): NoteId | null => index.idAt(memoryPath(memoryOf(change)));
