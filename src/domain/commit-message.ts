/** Commit messages: what a draft says, how Git shows it, and how it is read back and proved. */
import type { CommitAction, NoteSource } from "./event.ts";

/** @see spec: storage, section 2 */
export interface CommitMessage {
  readonly action: CommitAction;
  /** Type of the note, or scope for memory; null for adopt. */
  readonly label: string | null;
  /** Title or key of the note, or for adopt of several, e.g. `3 notes`. */
  readonly title: string;
  readonly reason: string | null;
  readonly changes: string | null;
  readonly noteIds: readonly string[];
  readonly noteType: string | null;
  readonly source: NoteSource;
  readonly agent: string | null;
  readonly agentId: number | null;
  readonly session: string | null;
  readonly requestKey: string | null;
  readonly requestHash: string | null;
}
