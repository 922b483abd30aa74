/**
 * A shallow clone's history ends at the commits that `<gitdir>/shallow` names: their parents are not here, and they are
 * read as if they had none. Invariant: nothing else ends a history; a parent that is missing otherwise is damage.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";

/** Commits whose parents are not here; empty in a whole repository. @cost one file read */
export function shallowCommits(gitdir: string): ReadonlySet<CommitId> {
  const text = orAbsent(() => readFileSync(join(gitdir, "shallow"), "latin1")) ?? "";
  // Git's own file: 40 hex digits a line.
  return new Set(text.split("\n").filter((line) => /^[0-9a-f]{40}$/.test(line)) as CommitId[]);
}
