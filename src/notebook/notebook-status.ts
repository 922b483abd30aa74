/** What of the notebook's own state `daemon.status` shows, gathered when it is asked. */
import type { NoteIndex } from "../index/note-index.ts";
import type { NoteStore } from "../store/note-store.ts";
import type { NotebookStatus } from "./notebook.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import type { PublishedSecrets } from "./secrets/published.ts";

const STARTING = "starting: reads are served, writes wait until every file was looked at";

/** @param watching how files are watched; null: they were not looked at yet */
export async function notebookStatus(parts: {
  readonly store: Pick<NoteStore, "branch" | "state" | "pending">;
  readonly index: NoteIndex;
  readonly reconciler: Pick<Reconciler, "pending" | "unsettled" | "reported">;
  readonly published: Pick<PublishedSecrets, "reported">;
  readonly nowMs: number;
  readonly watching: string | null;
}): Promise<NotebookStatus> {
  const { store, index, reconciler, published, nowMs, watching } = parts;
  return {
    branch: store.branch,
    head: index.head,
    state: await store.state(),
    notes: index.size(nowMs),
    quarantined: index.quarantined(),
    duplicates: index.duplicates(),
    pending: [...new Set([...store.pending(), ...reconciler.pending()])].sort(),
    unsettled: reconciler.unsettled(),
    reported: [...reconciler.reported(), ...published.reported(), ...index.disagreements()],
    watching: watching ?? STARTING,
  };
}
