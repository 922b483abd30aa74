/**
 * The marks that a remote's history was rewritten and a person has to choose, one for each remote. Each holds the
 * remote's head.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { fsyncFolder, orAbsent, writeDurably } from "../../lib/durable-file.ts";
import type { RepoState } from "../note-store.ts";

/** Relative to the Git directory. */
const DIVERGED = "notesd/diverged-remotes";

/**
 * @param kept folder of refs of the remote @param head null: it is over
 * @param isOnly the marks of all others go: they are of a setting that was changed
 */
export async function markDiverged(
  gitdir: string,
  kept: string,
  head: CommitId | null,
  isOnly: boolean,
): Promise<void> {
  const folder = join(gitdir, DIVERGED);
  const own = basename(kept);
  const names = orAbsent(() => readdirSync(folder)) ?? [];
  for (const name of names)
    if (name === own ? head === null : isOnly) rmSync(join(folder, name), { force: true });
  if (head === null) return;
  if (mkdirSync(folder, { recursive: true }) !== undefined) await fsyncFolder(join(gitdir, "notesd"));
  await writeDurably(join(folder, own), `${head}\n`);
}

/** The state for people; null: no remote has diverged. @cost one reading of the names in a folder */
export function divergedState(gitdir: string): RepoState | null {
  const [first] = (orAbsent(() => readdirSync(join(gitdir, DIVERGED))) ?? []).filter((name) =>
    /^[0-9a-f]{16}$/.test(name),
  );
  return first === undefined ? null : { state: "diverged", path: `${DIVERGED}/${first}` };
}
