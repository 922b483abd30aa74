/** What was purged here does not come back by a push: none of its commits, and no file content of them. */
import { purgedIds } from "../../store/purge/purged-list.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";

const MOST_TOLD = 5;

/**
 * @param tips what the push moves refs to
 * @cost nothing where nothing was purged, else a name for each object that the push brings
 */
export async function purgedFaults(git: HookGit, gitdir: string, tips: readonly string[]): Promise<Fault[]> {
  const purged = purgedIds(gitdir);
  if (purged.size === 0 || tips.length === 0) return [];
  // A person's own fetch may have brought the old history: only what branches and tags have is known.
  const listed = await git.text(
    ["rev-list", "--objects", "--no-object-names", "--stdin", "--not", "--branches", "--tags"],
    `${tips.join("\n")}\n`,
  );
  const back = [...new Set([...tips, ...listed.split("\n")])].filter((id) => purged.has(id));
  return back.slice(0, MOST_TOLD).map((id) => ({
    where: id,
    what: "was purged here, since it holds something that must not be kept, or follows what does",
    remedy:
      "Fetch the new history, put your own commits on top of it (git rebase --onto, or cherry-pick them in a new clone), and push those.",
  }));
}
