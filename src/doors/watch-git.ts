/**
 * Watch what Git itself moves: HEAD, the branches, the index, and the files that say that a merge or a rebase is
 * under way. Locks come and go and are no news.
 */
import { relative, sep } from "node:path";
import { watch } from "chokidar";

const NEWS =
  /^(?:HEAD|index|packed-refs|refs|refs\/heads(?:\/.*)?|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|BISECT_LOG|rebase-merge|rebase-apply)$/;

/**
 * @param gitDir     absolute; HEAD and index lie there
 * @param commonDir  absolute; refs lie there; the same but in a linked working tree
 * @param moved      something of it changed; called often, says nothing about what
 * @returns when watching; the function returned ends it
 */
export async function watchGit(
  gitDir: string,
  commonDir: string,
  moved: () => void,
  failed: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const folders = [...new Set([gitDir, commonDir])];
  const nameOf = (path: string) => {
    const from = folders.find((folder) => path === folder || path.startsWith(folder + sep)) ?? gitDir;
    return relative(from, path).split(sep).join("/");
  };
  const watcher = watch(folders, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored(path) {
      const name = nameOf(path);
      return name !== "" && (name.endsWith(".lock") || !NEWS.test(name));
    },
  });
  watcher.on("all", moved);
  watcher.on("error", failed);
  await new Promise<void>((resolve) => watcher.once("ready", resolve));
  return () => watcher.close();
}
