/**
 * Notes that a commit must not take as they lie: the branch has gained changes of them while the file was held for a
 * secret, so the file doesn't have those, and committed by hand it would take them back.
 */
import type { HookGit } from "./hook-git.ts";

const MOST_TOLD = 20;

/** @param parted paths, as the daemon tells them @returns why to refuse; null: the commit takes none of them */
export async function partedRefusal(git: HookGit, parted: readonly string[]): Promise<string | null> {
  const staged = new Set(
    (await git.text(["diff", "--cached", "--name-only", "-z", "--no-renames"])).split("\0"),
  );
  const taken = parted.filter((path) => staged.has(path));
  if (taken.length === 0) return null;
  return [
    "notesd did not let this commit through: the branch has gained changes of these notes that your files don't have.",
    ...taken.slice(0, MOST_TOLD).map((path) => `  ${JSON.stringify(path)}`),
    ...(taken.length > MOST_TOLD ? [`  and ${taken.length - MOST_TOLD} more`] : []),
    "  Leave them out of it (git restore --staged FILE): once no secret is in such a file, notesd merges both and commits.\n",
  ].join("\n");
}
