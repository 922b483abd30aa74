/** Whether a repository can be served at all, before anything in it is changed. */
import { ProcessError } from "../domain/process-error.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { preflight } from "../store/preflight/preflight.ts";
import { ATTRIBUTES_FILE, allRoots, attributeLines } from "./attributes.ts";
import { missingLines } from "./git-dir-lines.ts";

/**
 * @param roots as set, without the fixed ones
 * @throws ProcessError USAGE naming every obstacle and what to change
 */
export async function checkRepository(
  place: GitPlace,
  branch: string,
  roots: readonly string[],
): Promise<void> {
  const all = allRoots(roots);
  const refusals = await preflight({
    root: place.root,
    gitdir: place.gitDir,
    ref: `refs/heads/${branch}`,
    roots: all,
    paths: all.map((root) => (root === "." ? "new.md" : `${root}/new.md`)),
    // Those that are there already stand where they stand: a later line of a person's is the stronger.
    pendingLines: await missingLines(place, ATTRIBUTES_FILE, attributeLines(roots)),
    uid: process.getuid?.() ?? null,
  });
  if (refusals.length === 0) return;
  throw new ProcessError(
    "USAGE",
    `${place.root} can't be served:\n${refusals.map(({ message }) => `  ${message}`).join("\n")}`,
  );
}
