/** A write to a note whose file a person saved: the save is committed first, or the write is refused with why. */
import { NotesError } from "../../domain/errors.ts";
import type { RepoPath } from "../../domain/note.ts";
import { matchWords, WAYS_OUT } from "../reconcile/held-edits.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";
import type { Hold } from "../reconcile/settling.ts";

/**
 * Commit a person's unsettled saves of these files before a door writes the note.
 * @param passes what is in nobody's way here: `conflict` where the write brings new content, and so resolves a kept
 *   conflict; `secret` where the file is left as it lies
 * @throws NotesError CONFLICT `data.reason` held_edit: staged, in conflict, or with a secret (then `data.matches`);
 *   dirty_edit: waits for `notesd commit`
 */
export async function settleBefore(
  reconciler: Pick<Reconciler, "hint" | "dirty" | "settle" | "held" | "heldEdit">,
  paths: readonly RepoPath[],
  passes: Hold | null = null,
): Promise<void> {
  await reconciler.hint(paths);
  const dirty = paths.filter((path) => reconciler.dirty(path));
  if (dirty.length === 0) return;
  await reconciler.settle(dirty);
  for (const path of dirty) {
    const hold = reconciler.held(path);
    if (hold === null || hold === passes) continue;
    if (hold === "secret") throw holdsSecret(reconciler, path);
    const reason = hold === "manual" ? "dirty_edit" : "held_edit";
    throw new NotesError("CONFLICT", `${path} ${HELD[hold]}`, { reason, path });
  }
}

function holdsSecret({ heldEdit }: Pick<Reconciler, "heldEdit">, noted: RepoPath): NotesError {
  const { path, matches } = heldEdit(noted) ?? { path: noted, matches: [] };
  return new NotesError(
    "CONFLICT",
    `${path} holds a person's edit that is not committed, for it holds a secret: ${matchWords(matches)}. It waits on the disk until they ${WAYS_OUT}. Nothing was written; write to this note after that.`,
    { reason: "held_edit", path, matches },
  );
}

const HELD: Readonly<Record<Exclude<Hold, "secret">, string>> = {
  staged: "holds an edit that a person staged. It is committed by their own git commit.",
  manual: "holds a person's edit that is not committed. It is committed by notesd commit or git commit.",
  conflict:
    "holds a person's edit that does not merge with the note. Send an update with the content that both should become, or let the person commit theirs with notesd commit.",
};
