/**
 * What a person may do to a repository while it is served, and what a start would refuse. Each would end in lost
 * notes if writes went on, so it is looked for before each of them; the rest is preflight's, at the start.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import type { RepoState } from "../note-store.ts";

export type Unsupported = Extract<RepoState, { readonly state: "unsupported" }>;

const unsupported = (path: string, why: string): Unsupported => ({ state: "unsupported", path, why });

/** Files of a linked working tree whose first line names the branch that it is at, or will move. */
const NAMING_FILES = ["HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];

const textOf = (file: string) => orAbsent(() => readFileSync(file, "utf8"));

/**
 * @param standing names in the Git directory
 * @returns null: nothing of the kind
 * @cost nothing in a repository without linked working trees and settings of its own working tree
 */
export function unsupportedNow(
  gitdir: string,
  ref: string,
  standing: ReadonlySet<string>,
): Unsupported | null {
  if (standing.has("reftable"))
    return unsupported(
      "reftable",
      "Refs were moved into a reftable, which is not read here. Run git refs migrate --ref-format=files.",
    );
  // git sparse-checkout writes its switch there first, then takes files away.
  if (standing.has("config.worktree") && isSparse(gitdir))
    return unsupported(
      "config.worktree",
      "A sparse checkout was set: files that it leaves out look deleted. Run git sparse-checkout disable.",
    );
  if (standing.has("worktrees")) return checkedOutElsewhere(gitdir, ref);
  return null;
}

function isSparse(gitdir: string): boolean {
  const text = textOf(join(gitdir, "config.worktree")) ?? "";
  return /^\s*sparsecheckout\s*(?:=\s*(?:true|yes|on|1)\s*)?$/im.test(text);
}

/** A linked working tree at our branch has an index that lags each commit of ours: its next commit would undo it. */
function checkedOutElsewhere(gitdir: string, ref: string): Unsupported | null {
  const branch = ref.replace(/^refs\/heads\//, "");
  for (const name of orAbsent(() => readdirSync(join(gitdir, "worktrees"))) ?? []) {
    for (const file of NAMING_FILES) {
      const path = `worktrees/${name}/${file}`;
      const line = textOf(join(gitdir, path))?.split("\n", 1)[0]?.trim();
      if (line !== `ref: ${ref}` && line !== ref && (file !== "BISECT_START" || line !== branch)) continue;
      return unsupported(
        path,
        `${branch} is checked out in the linked working tree ${name}. Check out another branch there, or remove that working tree (see git worktree list).`,
      );
    }
  }
  return null;
}

/** The Git index was given a form that isn't written here. @cost one small read */
export function unsupportedIndex(gitdir: string): Unsupported | null {
  const fd = orAbsent(() => openSync(join(gitdir, "index"), "r"));
  if (fd === null) return null;
  try {
    const header = Buffer.alloc(8);
    if (readSync(fd, header) < header.length || header.toString("latin1", 0, 4) !== "DIRC") return null;
    if (header.readUInt32BE(4) < 4) return null;
    return unsupported(
      "index",
      "The Git index has version 4. Run git update-index --index-version 2, and set index.version to 2.",
    );
  } finally {
    closeSync(fd);
  }
}
