/** A change is a wish: what a caller wants of a note. `plan.ts` turns it into bytes or a refusal. */
import type { BlobId, NoteId, NoteMetadata, RepoPath, Scope, Status } from "./note.ts";

export type Change =
  | {
      readonly kind: "create";
      readonly title: string;
      readonly content: string;
      readonly noteType: string;
      readonly tags: readonly string[];
      readonly extra: Readonly<Record<string, unknown>>;
      readonly pinned: boolean;
      readonly expiresInHours: number | null;
      /** As the caller named it: the plan refuses one outside of the roots. Null: by day of creation. */
      readonly folder: string | null;
    }
  | {
      readonly kind: "update";
      readonly noteId: NoteId;
      /** Absent fields stay as they are. `expiresInHours: null` clears the expiry. */
      readonly title?: string;
      readonly content?: string;
      readonly noteType?: string;
      readonly tags?: readonly string[];
      readonly status?: Status;
      /** Keys are set one by one; null removes a key. */
      readonly extra?: Readonly<Record<string, unknown>>;
      readonly pinned?: boolean;
      readonly expiresInHours?: number | null;
      readonly ifRevision?: string;
      readonly onConflict: "fail" | "merge";
    }
  | {
      readonly kind: "append";
      readonly noteId: NoteId;
      readonly content: string;
      /** Append at the end of this heading's section. */
      readonly heading?: string;
      readonly ifRevision?: string;
    }
  | {
      readonly kind: "edit";
      readonly noteId: NoteId;
      /** Occurs exactly once in the body. */
      readonly oldStr: string;
      readonly newStr: string;
      readonly ifRevision?: string;
    }
  | {
      readonly kind: "save";
      /** Scope, ref, agent and key name the memory: there it is updated, and made where none is. NFC. */
      readonly key: string;
      readonly value: string;
      readonly scope: Scope;
      /** Which thread or person; null for the other scopes. */
      readonly ref: string | null;
      /** The notebook's name; null for workspace memory. */
      readonly agent: string | null;
      readonly pinned: boolean;
      /** Null: it stays, also where an expiry was set before. */
      readonly expiresInHours: number | null;
      /** Keys are set one by one; null removes a key. */
      readonly extra?: Readonly<Record<string, unknown>>;
      readonly ifRevision?: string;
      /** Refuse where a memory is: nothing is overwritten. */
      readonly onlyNew?: true;
    }
  | {
      readonly kind: "move";
      /** The memory that goes to another name; there must be none under that. Only what names it changes. */
      readonly noteId: NoteId;
      readonly key: string;
      readonly scope: Scope;
      readonly ref: string | null;
      readonly agent: string | null;
    }
  | { readonly kind: "delete"; readonly noteId: NoteId; readonly ifRevision?: string }
  /** A note that has expired is removed: only the notebook's own sweep asks for it. */
  | { readonly kind: "expire"; readonly noteId: NoteId; readonly ifRevision: string }
  | {
      readonly kind: "restore";
      readonly noteId: NoteId;
      /** Where the note lay then, and what it held. */
      readonly path: RepoPath;
      readonly revision: BlobId;
    };

/** Changes of a note that they name by its id, and of a revision of it that they may name. */
export type RevisedChange = Exclude<Change, { kind: "create" | "restore" | "save" | "move" }>;

/** What of a note says who may change it: where it lies, and who made it by what history proves. */
export type Owned = Pick<
  NoteMetadata,
  "note_id" | "path" | "agent_id" | "agent_name" | "pinned" | "expires_at"
>;

/** A change with what its request said beside it. */
export interface WriteRequest {
  readonly change: Change;
  /**
   * Asked when the change is planned, with the note as the writes before it leave it; null: there is none. What it
   * throws refuses the change. A repeated request is answered without it. Absent: whoever asks may.
   */
  readonly permit?: (now: Owned | null) => void;
  /** ≤ 500 characters; into the commit's body. */
  readonly reason: string | null;
  readonly idempotency: {
    /** As the caller sent it, 1..128 characters. */
    readonly key: string;
    /** 64 hex: SHA-256 of the RFC 8785 JSON of `{method, params}` without the key. */
    readonly hash: string;
  } | null;
}
