/**
 * The tip of the store's branch, which may be absent only at the beginning. Invariant: a branch that once held a
 * commit and is gone (renamed, deleted) is an error, never "no history": nothing begins a second one.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { readRef } from "./refs.ts";

export interface BranchTip {
  /** Null: no such branch. @throws NotesError STORAGE malformed */
  now(): CommitId | null;
  /** Null: an unborn branch. @throws NotesError STORAGE malformed, or gone */
  toBuildOn(): CommitId | null;
}

/** @param files paths of its notes that the working files are known to hold, also from before this process */
export function openBranchTip(gitdir: string, ref: string, files: () => Iterable<RepoPath>): BranchTip {
  let wasHeld = false;
  const now = () => {
    const tip = readRef(gitdir, ref);
    wasHeld ||= tip !== null;
    return tip;
  };
  return {
    now,
    toBuildOn() {
      const tip = now();
      if (tip !== null) return tip;
      for (const _ of files()) wasHeld = true;
      if (wasHeld) throw gone(ref);
      return null;
    },
  };
}

function gone(ref: string): NotesError {
  const name = ref.replace(/^refs\/heads\//, "");
  return new NotesError(
    "STORAGE",
    `The branch ${name} is gone, though it held notes: it was renamed or deleted. Bring it back with git branch ${name} COMMIT (git reflog knows it), or serve the renamed one with notesd config set branch NAME and a new start; nothing was changed.`,
    { path: ref },
  );
}
