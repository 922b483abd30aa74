/** What of the notebook's own state `daemon.status` shows, gathered when it is asked. */
import type { CommitId, Quarantined, RepoPath } from "../domain/note.ts";
import type { NoteIndex } from "../index/note-index.ts";
import type { NoteStore, RepoState } from "../store/note-store.ts";
import { type HeldEdit, matchWords } from "./reconcile/held-edits.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import type { PublishedSecrets } from "./secrets/published.ts";

/** What of the notebook's own state daemon.status shows. */
export interface NotebookStatus {
  readonly branch: string;
  readonly head: CommitId | null;
  readonly state: RepoState;
  readonly notes: number;
  readonly quarantined: readonly Quarantined[];
  readonly duplicates: readonly { id: string; kept: string; other: string; servedAs: string }[];
  readonly pending: readonly RepoPath[];
  readonly unsettled: readonly RepoPath[];
  readonly reported: readonly { path: string; reason: string }[];
  /** Hand edits that hold a secret: uncommitted until it is gone or allowed. */
  readonly held: readonly HeldEdit[];
  readonly watching: string;
}

const STARTING = "starting: reads are served, writes wait until every file was looked at";

/** @param watching how files are watched; null: they were not looked at yet */
export async function notebookStatus(parts: {
  readonly store: Pick<NoteStore, "branch" | "state" | "pending">;
  readonly index: NoteIndex;
  readonly reconciler: Pick<Reconciler, "pending" | "unsettled" | "reported" | "heldEdits">;
  readonly published: Pick<PublishedSecrets, "reported">;
  readonly nowMs: number;
  readonly watching: string | null;
}): Promise<NotebookStatus> {
  const { store, index, reconciler, published, nowMs, watching } = parts;
  const held = reconciler.heldEdits();
  const heldRows = held.map(({ path, matches }) => ({
    path,
    reason: `holds a secret and is not committed: ${matchWords(matches)}`,
  }));
  return {
    branch: store.branch,
    head: index.head,
    state: await store.state(),
    notes: index.size(nowMs),
    quarantined: index.quarantined(),
    duplicates: index.duplicates(),
    pending: [...new Set([...store.pending(), ...reconciler.pending()])].sort(),
    unsettled: reconciler.unsettled(),
    reported: [...reconciler.reported(), ...heldRows, ...published.reported(), ...index.disagreements()],
    held,
    watching: watching ?? STARTING,
  };
}
