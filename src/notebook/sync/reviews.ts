/** Marks of reviews travel with the branch: on both sides the one that goes further wins, and none is moved back. */
import type { NoteStore } from "../../store/note-store.ts";
import type { Remotes } from "../../store/remote/open-remote.ts";
import { isMark, REVIEWS, type RefUpdate, type RemoteRefs } from "../../store/remote/remote.ts";

/**
 * Take over marks that are ahead there, and tell which of ours are.
 * @cost for each mark that differs a look at how the two commits relate
 */
export async function reviewUpdates(
  store: Pick<NoteStore, "isAncestor">,
  remotes: Pick<Remotes, "list" | "write" | "isCommit">,
  { reviews: theirs, refusedMarks }: Pick<RemoteRefs, "reviews" | "refusedMarks">,
): Promise<RefUpdate[]> {
  const ours = new Map(
    remotes
      .list(REVIEWS.slice(0, -1))
      .filter(({ name, id }) => isMark(name) && !refusedMarks.includes(name) && remotes.isCommit(id))
      .map(({ name, id }) => [name, id]),
  );
  const updates: RefUpdate[] = [];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [mine, other] = [ours.get(name) ?? null, theirs.get(name) ?? null];
    if (mine === other) continue;
    if (other !== null && (mine === null || (await store.isAncestor(mine, other))))
      await remotes.write(name, other);
    else if (mine !== null && (other === null || (await store.isAncestor(other, mine))))
      updates.push({ ref: name, from: other, to: mine });
  }
  return updates;
}
