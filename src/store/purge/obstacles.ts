/** What keeps a repository from being purged as a whole: whatever holds objects or refs that are not looked into here. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import { isGcRunning } from "../objects/pack-list.ts";
import { packFolder } from "../objects/pack-names.ts";
import { listRefs } from "../refs/refs.ts";

const UNDER_WAY = [
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
];

/** @returns sentences, each with what to do; none: it can be purged */
export function purgeObstacles(gitdir: string): string[] {
  const names = (folder: string) => orAbsent(() => readdirSync(folder)) ?? [];
  const found: string[] = [];
  const begun = UNDER_WAY.find((name) => existsSync(join(gitdir, name)));
  if (begun !== undefined)
    found.push(`A merge, rebase, cherry-pick, revert or bisect is under way (${begun}). End it first.`);
  const linked = names(join(gitdir, "worktrees"));
  if (linked.length > 0)
    found.push(
      `There are linked working trees (${linked.join(", ")}), each with an index and a HEAD of its own. Remove them first (git worktree list names them).`,
    );
  if (existsSync(join(gitdir, "shallow")))
    found.push(
      "This is a shallow clone, which lacks the older history. Run git fetch --unshallow, or purge a whole clone.",
    );
  if (names(packFolder(gitdir)).some((name) => name.endsWith(".promisor")))
    found.push("This is a partial clone, which lacks some objects. Purge a whole clone.");
  if (existsSync(join(gitdir, "objects/info/alternates")))
    found.push(
      "Objects are borrowed from another repository (objects/info/alternates). Run git repack -ad, remove that file, and purge that one too.",
    );
  if (listRefs(gitdir, "refs/replace").length > 0)
    found.push(
      "There are replacement refs (git replace -l), which show another history than there is. Delete them first.",
    );
  if (existsSync(join(gitdir, "info/grafts")))
    found.push(
      "There are grafts (info/grafts), which show another history than there is. Remove them first.",
    );
  if (isGcRunning(gitdir)) found.push("A git gc is running. Purge again when it has ended.");
  return found;
}
