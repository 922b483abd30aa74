/**
 * Whether all of a history is here. A commit that is here says nothing of what it reaches: a remote may send a pack with
 * holes, which stays, and a kill may come before it was looked at.
 */
import type { CommitId } from "../../domain/note.ts";
import type { GitObjects } from "../objects/objects.ts";
import { newObjects, type ObjectSource } from "./new-objects.ts";

/**
 * What is missing of a history; null: nothing.
 *
 * @param known commits that are here with all that they reach
 * @returns also what can't be read, as it says
 * @cost a read of each tree that changed above what is known, and a look at each blob
 */
export async function missingOf(
  source: ObjectSource,
  objects: Pick<GitObjects, "has">,
  tip: CommitId,
  known: readonly CommitId[],
): Promise<string | null> {
  try {
    for await (const { type, id } of newObjects(source, tip, known))
      if (type === "blob" && !objects.has(id)) return `${id} is missing`;
    return null;
  } catch (error) {
    // Trigger: a hole, or bytes that are no commit or tree. Outcome: the caller refuses the history, and says this.
    return error instanceof Error ? error.message : String(error);
  }
}
