/** A write to a note whose file a person saved: the save is committed first, or the write is refused with why. */
import { NotesError } from "../../domain/errors.ts";
import type { RepoPath } from "../../domain/note.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";
import type { Hold } from "../reconcile/settling.ts";

/**
 * Commit a person's unsettled saves of these files before a door writes the note.
 * @param resolves the write brings new content, and so resolves a kept conflict
 * @throws NotesError CONFLICT `data.reason` held_edit: staged, or in conflict; dirty_edit: waits for `notesd commit`
 */
export async function settleBefore(
  reconciler: Pick<Reconciler, "hint" | "dirty" | "settle" | "held">,
  paths: readonly RepoPath[],
  resolves = false,
): Promise<void> {
  await reconciler.hint(paths);
  const dirty = paths.filter((path) => reconciler.dirty(path));
  if (dirty.length === 0) return;
  await reconciler.settle(dirty);
  for (const path of dirty) {
    const hold = reconciler.held(path);
    if (hold === null || (hold === "conflict" && resolves)) continue;
    const reason = hold === "manual" ? "dirty_edit" : "held_edit";
    throw new NotesError("CONFLICT", `${path} ${HELD[hold]}`, { reason, path });
  }
}

const HELD: Readonly<Record<Hold, string>> = {
  staged: "holds an edit that a person staged. It is committed by their own git commit.",
  manual: "holds a person's edit that is not committed. It is committed by notesd commit or git commit.",
  conflict:
    "holds a person's edit that does not merge with the note. Send an update with the content that both should become, or let the person commit theirs with notesd commit.",
};
