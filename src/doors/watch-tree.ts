/**
 * Watch a small working tree with chokidar. chokidar 5 loses a folder that is removed and made again at once:
 * each folder's identity is remembered, and the folder watched anew when it changed.
 */
import { join, relative, sep } from "node:path";
import { watch } from "chokidar";
import { folderIdentity, folderOf, type TreeWatcher, type WatchReport, watchedFolder } from "./watching.ts";

/** @returns when chokidar has seen the tree as it is; it reports only what changes afterwards */
export async function watchTree(
  root: string,
  roots: readonly string[],
  report: WatchReport,
): Promise<TreeWatcher> {
  const mayHoldNotes = watchedFolder(roots);
  const identities = new Map<string, string>();
  const toRelative = (path: string) => relative(root, path).split(sep).join("/");

  const watcher = watch(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored(path, stats) {
      const name = toRelative(path);
      if (name.endsWith(".md")) return false;
      return stats === undefined || stats.isDirectory() ? !mayHoldNotes(name) : true;
    },
  });

  /** Watch a folder anew when another one lies at its path by now. */
  async function renew(folder: string): Promise<void> {
    const identity = await folderIdentity(join(root, folder));
    const known = identities.get(folder);
    if (identity === null) identities.delete(folder);
    else identities.set(folder, identity);
    if (identity === null || known === undefined || known === identity || watcher.closed) return;
    watcher.unwatch(join(root, folder));
    watcher.add(join(root, folder));
    report.changed(folder);
  }

  watcher.on("all", (event, path) => {
    const name = toRelative(path);
    report.changed(name);
    const folder = event === "addDir" || event === "unlinkDir" ? name : folderOf(name);
    renew(folder).catch(report.failed);
  });
  watcher.on("error", report.failed);
  await new Promise<void>((resolve) => watcher.once("ready", resolve));

  const refresh = async () => {
    for (const folder of Object.keys(watcher.getWatched())) {
      const name = toRelative(folder);
      if (name !== ".." && mayHoldNotes(name)) await renew(name);
    }
  };
  await refresh();
  return { kind: "chokidar", refresh, close: () => watcher.close() };
}
