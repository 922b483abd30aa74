/**
 * Keeping the index level with the branch: our own publications are absorbed, anybody else's moves are
 * caught up with. Runs only in the writer's turn, so the fold and the feed see every move once, in order.
 */
import type { CommitEvents } from "../../domain/event.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteChange, NoteIndex } from "../../index/note-index.ts";
import type { DraftOutcome, NoteStore, Publication } from "../../store/note-store.ts";
import type { BranchMove } from "../feed/feed.ts";
import type { Via } from "../feed/heads.ts";

interface Told {
  /** The branch moved and the index has folded it. */
  moved(move: BranchMove, changes: readonly NoteChange[]): Promise<void>;
  /** A person's Git took this tip off the branch by losing a race with us. */
  takenBack(lost: CommitId): void;
}

export interface Follower {
  /** Fold whatever the branch has that the index has not. @returns whether it had moved */
  catchUp(via?: Via): Promise<boolean>;
  /** Fold what the store just committed, after any moves of others below it. */
  absorb(publication: Publication): Promise<void>;
}

const committed = (outcome: DraftOutcome): CommitEvents[] =>
  outcome.kind === "committed" ? [outcome.events] : [];

/** Make the follower of one index. @param onMove hears each move after it was folded, in order */
export function createFollower(store: NoteStore, index: NoteIndex, told: Told): Follower {
  const readBlob = (id: Parameters<NoteStore["readBlob"]>[0]) => store.readBlob(id);

  async function foldTo(to: CommitId, via: Via): Promise<void> {
    const from = index.head;
    // All of a history is folded while it is read, and none of it is kept for that.
    if (from === null) {
      await index.rebuild(store.history(null, to), readBlob);
      return told.moved({ kind: "other", to, via }, []);
    }
    const commits: CommitEvents[] = [];
    for await (const commit of store.history(from, to)) commits.push(commit);
    let changes: readonly NoteChange[] = [];
    if (index.canExtend(commits, to)) changes = await index.apply(commits, readBlob, to);
    else await index.rebuild(store.history(null, to), readBlob);
    await told.moved({ kind: "other", to, via }, changes);
    const lost = (await store.isAncestor(from, to)) ? null : await store.takenBack(from);
    if (lost !== null) told.takenBack(lost);
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
      await told.moved({ kind: "own", commits }, await index.apply(commits, readBlob, tip));
    },
  };
}
