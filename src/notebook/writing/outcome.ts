/** The answer of a write: from its plan, and from what the index knows once it is folded. */
import { NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { BlobId, NoteMetadata } from "../../domain/note.ts";
import type { CurrentNote, Plan } from "../../domain/plan.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { WriteOutcome } from "../notebook.ts";

interface OutcomeDeps {
  readonly index: () => Pick<NoteIndex, "get" | "history">;
  readonly blobId: (bytes: Uint8Array) => BlobId;
}

/** What a committed and folded draft did. @param metadata  the note before it; null: it is new */
export function outcomeOf(
  deps: OutcomeDeps,
  planned: Plan,
  metadata: NoteMetadata | null,
  { commit, events }: CommitEvents,
  nowMs: number,
): WriteOutcome {
  const revision = planned.bytes === null ? null : deps.blobId(planned.bytes);
  const now = deps.index().get(planned.noteId);
  const planTime = new Date(nowMs).toISOString();
  return {
    noteId: planned.noteId,
    path: planned.bytes === null ? null : planned.path,
    revision,
    commit: commit.id,
    title: planned.title,
    createdAt: metadata?.created_at ?? now?.created_at ?? planTime,
    updatedAt: now !== null && now.revision === revision ? now.updated_at : planTime,
    changed: events.length > 0,
    merged: planned.merged,
    created: planned.created ?? planned.action === "create",
    replayed: false,
  };
}

/** The answer to a change that changes nothing: the note's last commit. */
export function unchanged(
  deps: OutcomeDeps,
  { noteId, path, revision, title }: CurrentNote,
  metadata: NoteMetadata | null,
  merged: boolean,
): WriteOutcome {
  const [last] = deps.index().history({ noteId }, 1, null).items;
  if (last === undefined) throw new NotesError("INTERNAL", `History knows no commit of ${noteId}.`);
  return {
    noteId,
    path,
    revision,
    commit: last.commit,
    title,
    createdAt: metadata?.created_at ?? "",
    updatedAt: metadata?.updated_at ?? "",
    changed: false,
    merged,
    created: false,
    replayed: false,
  };
}
