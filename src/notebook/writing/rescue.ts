/**
 * Writes that a person's `git reset --hard` or `git stash` took off the branch by losing a race: they were
 * acknowledged, so they are brought back by one merge commit whose second parent is the tip that was lost. Where
 * the person changed the same note meanwhile, the two are merged as any two sides.
 */
import { COMMITTER, NO_REQUEST } from "../../domain/commit-message.ts";
import { mergeNotes } from "../../domain/merge.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Warn } from "../../lib/bus.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Draft, FileWish, NoteStore, Publication, TreeChange } from "../../store/note-store.ts";

export interface RescueDeps {
  readonly store: NoteStore;
  readonly index: Pick<NoteIndex, "idAt">;
  readonly clock: Clock;
}

export interface Rescue {
  /** These writes were taken off the branch. They are brought back as soon as the repository allows it. */
  takenBack(lost: CommitId): void;
  /** Bring back what could not be brought back yet. Never rejects. */
  retry(): Promise<void>;
}

/** A file that a person is saving lies in the way at most so often. */
const MAX_TRIES = 5;

/**
 * @param alone        runs a job alone in the writer's queue
 * @param commitDrafts commits and folds; called inside such a job
 * @param settle       looks at the files anew and commits a person's edits of them
 */
export function createRescue(
  deps: RescueDeps & {
    readonly alone: <T>(job: () => Promise<T>) => Promise<T>;
    readonly commitDrafts: (drafts: readonly Draft[]) => Promise<Publication>;
    readonly settle: (paths: readonly RepoPath[]) => Promise<void>;
    readonly warn: Warn;
  },
): Rescue {
  const waiting = new Set<CommitId>();

  async function bringBackAll(lost: CommitId): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const outcome = await deps.alone(async () => {
        const draft = await rescueDraft(deps, lost);
        return draft === null ? null : ((await deps.commitDrafts([draft])).outcomes[0] ?? null);
      });
      if (outcome === null || outcome.kind === "committed") {
        waiting.delete(lost);
        return;
      }
      if (outcome.kind === "dirty") await deps.settle(outcome.paths);
    }
  }

  async function retry(): Promise<void> {
    for (const lost of [...waiting]) {
      try {
        await bringBackAll(lost);
      } catch (error) {
        deps.warn("writes that a moved branch had lost are not on the branch again yet", {
          trigger: lost,
          why: error instanceof Error ? error.message : String(error),
          outcome: "the commit is kept in the reflog, and tried again when HEAD or the index moves",
        });
      }
    }
  }

  return {
    takenBack(lost) {
      waiting.add(lost);
      void retry();
    },
    retry,
  };
}

/**
 * The commit that brings a lost tip back.
 *
 * @returns null when the branch has it already
 * @cost the difference between the lost tip and where the branch parted from it
 */
export async function rescueDraft(deps: RescueDeps, lost: CommitId): Promise<Draft | null> {
  const { store, clock } = deps;
  const tip = await store.tip();
  if (tip === null || (await store.isAncestor(lost, tip))) return null;
  const [base = null] = await store.mergeBases(lost, tip);
  const changes = await store.diff(base, lost);
  const files: FileWish[] = [];
  for (const change of changes) {
    const current = await store.blobAt(tip, change.path);
    const wish = await bringBack(deps, change, current);
    if (wish !== null) files.push(wish);
  }
  const noteIds = changes.flatMap(({ path }) => deps.index.idAt(path) ?? []);
  return {
    author: COMMITTER,
    atMs: clock.now(),
    message: {
      action: "merge",
      label: null,
      title: `${changes.length === 1 ? "a note" : `${changes.length} notes`} that a moved branch had lost`,
      reason:
        "A reset to HEAD moved the branch while these writes were being committed; they were acknowledged.",
      changes: null,
      noteIds: [...new Set(noteIds)],
      noteType: null,
      source: "api",
      ...NO_REQUEST,
    },
    files,
    origin: "door",
    mergeParents: [lost],
  };
}

async function bringBack(
  { store, index, clock }: RescueDeps,
  { path, before, after }: TreeChange,
  current: BlobId | null,
): Promise<FileWish | null> {
  if (current === after) return null;
  const bytesOf = async (blob: BlobId | null) => (blob === null ? null : await store.readBlob(blob));
  const theirs = await bytesOf(after);
  if (current === before) return { path, expected: current, bytes: theirs };
  // One side deleted the note and the other changed it: the change stays.
  if (theirs === null) return null;
  if (current === null) return { path, expected: null, bytes: theirs };
  const merge = mergeNotes(await bytesOf(before), await store.readBlob(current), theirs);
  if (merge.kind === "merged") return { path, expected: current, bytes: merge.bytes };
  await store.keepConflict({
    note_id: index.idAt(path) ?? path,
    path,
    base: before,
    ours: current,
    // `theirs` was read from it.
    theirs: after as BlobId,
    since: new Date(clock.now()).toISOString(),
  });
  return null;
}
