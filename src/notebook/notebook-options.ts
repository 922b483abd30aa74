/** What a notebook is opened with; main fills it in from settings and the repository. */
import type { Author } from "../domain/event.ts";
import type { NoteIndex } from "../index/note-index.ts";
import type { Warn } from "../lib/bus.ts";
import type { Clock } from "../lib/clock.ts";
import type { NoteStore } from "../store/note-store.ts";
import type { ReconcileSettings } from "./reconcile/reconciler.ts";

export interface NotebookOptions {
  readonly store: NoteStore;
  /** From the checkpoint, or empty: brought level with the branch here. */
  readonly index: NoteIndex;
  /** An empty index with the same types and roots. */
  readonly newIndex: () => NoteIndex;
  /** `<gitdir>/notesd` */
  readonly stateDir: string;
  /** Where `notes_index.json` is written, up to 10,000 notes; null: nowhere. */
  readonly notesIndexFile: string | null;
  readonly types: Readonly<Record<string, { readonly priority: number }>>;
  readonly limits: { readonly noteBytes: number; readonly waitingWrites: number };
  readonly filenames: "id" | "id-slug";
  /** Where notes may lie, relative to the repository; `.` for all of it. */
  readonly roots: readonly string[];
  readonly reconcile: ReconcileSettings;
  /** Writes wait until the disk door looked at every file once; default: they don't. */
  readonly filesFirst?: boolean;
  /** Author of hand edits. */
  readonly person: Author;
  /** 32 bytes. */
  readonly proofKey: Uint8Array;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly warn: Warn;
}
