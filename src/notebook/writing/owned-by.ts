/**
 * What decides who may change a note while a group of writes is planned: what the index knows, and of what the group
 * itself writes the bytes that it will have. Invariant: nobody is judged by a pin, an expiry or a path that an earlier
 * write of the group has changed.
 */
import type { Owned } from "../../domain/change.ts";
import type { NoteMetadata } from "../../domain/note.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import type { CurrentNote, Plan } from "../../domain/plan.ts";
import type { Principal } from "../../domain/principal.ts";

/** A note as a group's earlier writes leave it. */
export interface Found {
  readonly note: CurrentNote;
  /** What the index knows of it; null: no commit has it yet. */
  readonly metadata: NoteMetadata | null;
  /** Who makes it in this very group, where the index knows nothing. */
  readonly maker?: Principal;
  /** What the group's own bytes say; absent: it wrote none. @cost the first time, a read of the note */
  readonly said?: () => Said;
}

interface Said {
  /** Whether it is pinned, and that counts. */
  readonly pinned: boolean;
  /** Whether it says so and that counts for nothing. */
  readonly isPinIdle: boolean;
  readonly expires_at: string | null;
}

/** What decides who may change it. */
export function ownedBy({ note, metadata, maker, said }: Found): Owned {
  const { note_id, agent_id, agent_name } = metadata ?? madeBy(note, maker);
  const { pinned, expires_at } = said?.() ?? metadata ?? { pinned: false, expires_at: null };
  return { note_id, path: note.path, agent_id, agent_name, pinned, expires_at };
}

function madeBy({ noteId }: CurrentNote, maker: Principal | undefined) {
  const agent = maker?.kind === "agent" ? maker : null;
  return { note_id: noteId, agent_id: agent?.agentId ?? null, agent_name: agent?.name ?? null };
}

/** What a write of the group leaves said, read when somebody asks: most notes are written once in a group. */
export function saidAfter(
  { action, path }: Pick<Plan, "action" | "path">,
  bytes: Uint8Array,
  before: Found | null,
  principal: Principal,
  types: ReadonlySet<string>,
): () => Said {
  let said: Said | null = null;
  const read = (): Said => {
    const file = readNoteFile(path, bytes, types);
    if (file.kind === "quarantined") return { pinned: false, isPinIdle: false, expires_at: null };
    const { pinned, expiresAt } = file.fields;
    // A pin that counted for nothing does so until a person changes the note, or a save says it anew.
    const isPinIdle = pinned && principal.kind === "agent" && action !== "save" && wasPinIdle(before);
    return { pinned: pinned && !isPinIdle, isPinIdle, expires_at: expiresAt };
  };
  return () => {
    said ??= read();
    return said;
  };
}

const wasPinIdle = (before: Found | null): boolean =>
  before?.said ? before.said().isPinIdle : before?.metadata?.extra["pinned"] === true;
