/** The mark that a remote's history was rewritten and a person has to choose. It holds the remote's head. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { writeDurably } from "../../lib/durable-file.ts";
import type { RepoState } from "../note-store.ts";

/** Relative to the Git directory. */
const DIVERGED = "notesd/diverged";

/** @param head null: it is over */
export async function markDiverged(gitdir: string, head: CommitId | null): Promise<void> {
  const file = join(gitdir, DIVERGED);
  if (head === null) rmSync(file, { force: true });
  else await writeDurably(file, `${head}\n`);
}

/** The state for people; null: no remote has diverged. @cost a stat */
export function divergedState(gitdir: string): RepoState | null {
  return existsSync(join(gitdir, DIVERGED)) ? { state: "diverged", path: DIVERGED } : null;
}
