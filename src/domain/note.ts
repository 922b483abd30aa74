/**
 * What a note is: its metadata as every door shows it, and the brands that keep ids apart.
 * How a file's bytes become this is `note-file.ts`; who fills in history's part is the index.
 */
import { z } from "zod";

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A note's identity for callers: `note_…`, `mem_…`, `f_…`, or the `id` of a person's file. */
export type NoteId = Brand<string, "NoteId">;
/** 40 hex digits of a commit. */
export type CommitId = Brand<string, "CommitId">;
/** 40 hex digits of a blob; as a note's `revision`, equal means equal bytes. */
export type BlobId = Brand<string, "BlobId">;
/** Relative to the repository root, `/` separated, no `.` or `..` segment. */
export type RepoPath = Brand<string, "RepoPath">;

export const STATUSES = ["open", "resolved", "archived"] as const;
export const SCOPES = ["workspace", "agent", "thread", "person"] as const;
/** Highest trust first. */
export const TRUSTS = ["person", "disk", "agent", "imported", "pushed"] as const;

export const Status = z.enum(STATUSES);
export type Status = z.infer<typeof Status>;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;
export const Trust = z.enum(TRUSTS);
export type Trust = z.infer<typeof Trust>;

const hex40 = z.string().regex(/^[0-9a-f]{40}$/);

/** A commit's id as it is read back from a file of ours. */
export const CommitIdText = hex40.transform((text) => text as CommitId); // the brand says what the pattern checked

/** @see spec: protocol, section 3 */
export const NoteMetadata = z.strictObject({
  note_id: z.string().describe("The note's id, the same in every action."),
  title: z.string(),
  type: z
    .string()
    .describe("task_state, conclusion, blocker, action, reference, general or a configured type."),
  tags: z.array(z.string()),
  created_at: z.string().describe("ISO 8601, UTC."),
  updated_at: z.string().describe("ISO 8601, UTC."),
  status: Status,
  scope: Scope,
  scope_ref_id: z.string().nullable(),
  key: z.string().nullable().describe("The key given to notes.save; null for other notes."),
  agent_id: z.number().int().nullable().describe("The author's notebook; null for a person's note."),
  agent_name: z.string().nullable(),
  pinned: z.boolean(),
  expires_at: z.string().nullable(),
  path: z.string().describe("Relative to the repository root."),
  revision: hex40.describe("Git blob id: equal revision means equal bytes."),
  trust: Trust.describe("Who last changed the note, from history."),
  extra: z.record(z.string(), z.unknown()).describe("Every other front-matter key."),
});
export type NoteMetadata = z.infer<typeof NoteMetadata>;

/** Whether a note is gone by its own expiry: absent everywhere but in history. */
export function isExpired({ expires_at }: Pick<NoteMetadata, "expires_at">, nowMs: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= nowMs;
}

/** The built-in types with their priority for context, 0..1. Settings may add more. */
export const NOTE_TYPES: Readonly<Record<string, { readonly priority: number }>> = {
  blocker: { priority: 0.9 },
  action: { priority: 0.8 },
  task_state: { priority: 0.75 },
  conclusion: { priority: 0.7 },
  reference: { priority: 0.6 },
  general: { priority: 0.6 },
};

/** A file under the roots that can't be read as a note, and why. Its bytes are never touched. */
export interface Quarantined {
  readonly path: RepoPath;
  /** 1-based line in the file, or null when no line is to blame. */
  readonly line: number | null;
  readonly reason: string;
}
