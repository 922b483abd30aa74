/**
 * Watch what Git itself moves: HEAD, the branches, the index, and the files that say that a merge or a rebase is
 * under way. Git replaces all of these by renaming a lock over them, so folders are watched and not the files:
 * a watch on a file is on the one that was replaced, and loses what happens until it is set anew.
 */
import { watch } from "node:fs";
import { mayHoldNotes } from "../domain/note-path.ts";
import { watchFolders } from "./watch-folders.ts";

/** In the Git directory itself. Locks come and go and are no news. */
const NEWS =
  /^(?:HEAD|index|packed-refs|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|BISECT_LOG|BISECT_START|rebase-merge|rebase-apply|sequencer|worktrees|config\.worktree|reftable)$/;

const ROOTS = ["refs/heads"];
/** Whether a name may be that of a folder of branches. Git refuses a branch whose name has a part that ends so; each write makes and removes such a file. */
export const mayHoldBranches = (folder: string) => !folder.endsWith(".lock") && mayHoldNotes(folder, ROOTS);

/**
 * @param gitDir     absolute; HEAD and index lie there
 * @param commonDir  absolute; refs lie there; another one in a linked working tree only
 * @param moved      something of it changed; called often, says nothing about what
 * @returns when watching; the function returned ends it
 */
export async function watchGit(
  gitDir: string,
  commonDir: string,
  moved: () => void,
  failed: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const tops = [...new Set([gitDir, commonDir])].flatMap((folder) => {
    try {
      const watcher = watch(folder, { persistent: false, encoding: "utf8" }, (_event, name) => {
        if (name === null || NEWS.test(name)) moved();
      });
      return [watcher.on("error", failed)];
    } catch (error) {
      failed(error);
      return [];
    }
  });
  const report = {
    changed: (path: string) => {
      if (!path.endsWith(".lock")) moved();
    },
    failed,
  };
  const close = () => tops.forEach((top) => void top.close());
  try {
    const branches = await watchFolders(commonDir, ROOTS, () => [], report, undefined, mayHoldBranches);
    return async () => {
      close();
      await branches.close();
    };
  } catch (error) {
    close();
    throw error;
  }
}
