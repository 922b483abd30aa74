/**
 * Keeping the index level with the branch: our own publications are absorbed, anybody else's moves are
 * caught up with. Runs only in the writer's turn, so the fold and the feed see every move once, in order.
 */
import type { CommitEvents } from "../domain/event.ts";
import type { CommitId } from "../domain/note.ts";
import type { NoteChange, NoteIndex } from "../index/note-index.ts";
import type { DraftOutcome, NoteStore, Publication } from "../store/note-store.ts";
import type { BranchMove } from "./feed.ts";
import type { Via } from "./heads.ts";

type OnMove = (move: BranchMove, changes: readonly NoteChange[]) => Promise<void>;

export interface Follower {
  /** Fold whatever the branch has that the index has not. @returns whether it had moved */
  catchUp(via?: Via): Promise<boolean>;
  /** Fold what the store just committed, after any moves of others below it. */
  absorb(publication: Publication): Promise<void>;
}

const committed = (outcome: DraftOutcome): CommitEvents[] =>
  outcome.kind === "committed" ? [outcome.events] : [];

export function createFollower(store: NoteStore, index: NoteIndex, onMove: OnMove): Follower {
  const readBlob = (id: Parameters<NoteStore["readBlob"]>[0]) => store.readBlob(id);

  async function foldTo(to: CommitId, via: Via): Promise<void> {
    const commits: CommitEvents[] = [];
    for await (const commit of store.history(index.head, to)) commits.push(commit);
    let changes: readonly NoteChange[] = [];
    if (index.canExtend(commits)) changes = await index.apply(commits, readBlob, to);
    else await index.rebuild(store.history(null, to), readBlob);
    await onMove({ kind: "other", to, via }, changes);
  }

  async function level(to: CommitId | null, via: Via): Promise<boolean> {
    if (to === null || to === index.head) return false;
    await foldTo(to, via);
    return true;
  }

  return {
    catchUp: async (via = "live") => level(await store.tip(), via),
    async absorb({ base, tip, outcomes }) {
      await level(base, "live");
      if (tip === null || tip === base) return;
      const commits = outcomes.flatMap(committed);
      await onMove({ kind: "own", commits }, await index.apply(commits, readBlob, tip));
    },
  };
}
