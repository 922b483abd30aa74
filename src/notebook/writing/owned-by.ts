/** Whose a note is while a group of writes is planned: by the index, or for one that the group makes by its maker. */
import type { Owned } from "../../domain/change.ts";
import type { NoteMetadata } from "../../domain/note.ts";
import type { CurrentNote } from "../../domain/plan.ts";
import type { Principal } from "../../domain/principal.ts";

/** A note as a group's earlier writes leave it. */
export interface Found {
  readonly note: CurrentNote;
  /** What the index knows of it; null: no commit has it yet. */
  readonly metadata: NoteMetadata | null;
  /** Who makes it in this very group, where the index knows nothing. */
  readonly maker?: Principal;
}

/** What decides who may change it. */
export function ownedBy({ note, metadata, maker }: Found): Owned {
  if (metadata !== null) return metadata;
  const agent = maker?.kind === "agent" ? maker : null;
  return {
    note_id: note.noteId,
    path: note.path,
    agent_id: agent?.agentId ?? null,
    agent_name: agent?.name ?? null,
    pinned: false,
    expires_at: null,
  };
}
