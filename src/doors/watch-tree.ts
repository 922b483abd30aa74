/**
 * Watch a small working tree with chokidar. It is let see folders only: it recurses, and its `raw` events, one
 * kernel watch a folder, are the hints of files; a watch on each file is lost with the file that is replaced.
 * chokidar 5 keeps the deaf watch of a folder that is removed and made again: folders are told apart by identity.
 * Invariant: whatever lies in a folder when its watch is set is reported after that, and a deaf watch is replaced.
 */
import { join, relative, sep } from "node:path";
import { FSWatcher } from "chokidar";
import { mayHoldNotes } from "../domain/note-path.ts";
import { childFolders, type FolderWatcher, folderIdentity, type WatchReport } from "./watching.ts";

/** Identity of a folder whose watch may be on one that lay there before. */
const STALE = "stale";

/** A folder that chokidar has met is watched within this time, or looked at again, and ever more rarely after that. */
const MET_MS = 150;
const LONGEST_MET_MS = 2_400;

/** chokidar says when it meets a folder, and by itself not when that is watched: only then is a look at it safe. */
class FolderTree extends FSWatcher {
  readonly #watched: (folder: string) => void;

  constructor(ignored: (path: string, isFile: boolean) => boolean, watched: (folder: string) => void) {
    super({
      followSymlinks: false,
      atomic: false,
      ignored: (path, stats) => ignored(path, stats?.isDirectory() === false),
    });
    this.#watched = watched;
  }

  override _addPathCloser(path: string, closer: () => void): void {
    super._addPathCloser(path, closer);
    this.#watched(path);
  }
}

/** @returns when every folder is watched, or reported as failed */
export async function watchTree(
  root: string,
  roots: readonly string[],
  report: WatchReport,
): Promise<FolderWatcher> {
  const mayHold = (folder: string) => mayHoldNotes(folder, roots);
  /** What lay at a folder when its watch was set; null while chokidar is at it. */
  const watched = new Map<string, string | null>();
  /** Met, and being waited for. */
  const awaited = new Set<string>();
  const starting: Promise<void>[] = [];
  let ready = false;
  let closed = false;
  const tree = new FolderTree(
    (path, isFile) => isFile || !mayHold(relativeTo(root, path)),
    (folder) => {
      const work = onWatched(relativeTo(root, folder)).catch(report.failed);
      if (!ready) starting.push(work);
    },
  );

  async function onWatched(folder: string): Promise<void> {
    const before = watched.get(folder) ?? null;
    const identity = await folderIdentity(join(root, folder));
    if (identity === null || closed) return;
    // chokidar shares the watch that it has at a path, also a deaf one.
    if (before !== null && before !== identity) return watchAnew(folder);
    if (watched.get(folder) !== STALE) watched.set(folder, identity);
    if (!ready) return;
    report.changed(folder);
    await lookInto(folder);
  }

  /** chokidar is at a folder, or will be; now and then it gives one up without a word when that changes under its hands. */
  function met(folder: string): void {
    watched.set(folder, null);
    if (!ready || awaited.has(folder)) return;
    awaited.add(folder);
    awaitWatch(folder, MET_MS);
  }

  function awaitWatch(folder: string, ms: number): void {
    setTimeout(() => {
      if (closed || watched.get(folder) !== null || ms > LONGEST_MET_MS) {
        awaited.delete(folder);
        return;
      }
      look(folder, true).catch(report.failed);
      awaitWatch(folder, ms * 2);
    }, ms).unref();
  }

  function watchAnew(folder: string): void {
    if (closed) return;
    met(folder);
    tree.unwatch(join(root, folder)).add(join(root, folder));
  }

  /** Watch a folder, if it is one, unless it is watched as it lies there now. */
  async function look(folder: string, evenIfMet = false): Promise<void> {
    if (!mayHold(folder)) return;
    const identity = await folderIdentity(join(root, folder));
    if (identity === null) return;
    const known = watched.get(folder);
    if (known === identity || (known === null && !evenIfMet)) return;
    watchAnew(folder);
  }

  async function lookInto(folder: string, deep = false): Promise<void> {
    for (const name of await childFolders(join(root, folder))) {
      const child = folder === "" ? name : `${folder}/${name}`;
      await look(child, deep);
      if (deep && mayHold(child)) await lookInto(child, deep);
    }
  }

  function onEvent(event: string, path: string): void {
    if (path.endsWith(".md")) report.changed(path);
    else if (mayHold(path)) {
      report.changed(path);
      if (event === "rename") lookAgain(path);
    }
  }

  /** Made, removed or renamed: the watch is on what lay there before, or chokidar gave it up. */
  function lookAgain(folder: string): void {
    if (watched.has(folder)) watched.set(folder, STALE);
    look(folder).catch(report.failed);
  }

  async function refresh(): Promise<void> {
    await look("", true);
    await lookInto("", true);
  }

  tree.on("addDir", (path) => {
    const folder = relativeTo(root, path);
    if (!watched.has(folder)) met(folder);
  });
  tree.on("unlinkDir", (path) => lookAgain(relativeTo(root, path)));
  tree.on("raw", (event, name, details) => {
    const folder = watchedPathOf(details);
    // When it polls, chokidar names the folder itself.
    if (folder === null) onEvent(event, relativeTo(root, name));
    else onEvent(event, relativeTo(root, name === null ? folder : join(folder, name)));
  });
  // A folder that can't be read keeps chokidar from ever being ready.
  await new Promise<void>((resolve) => {
    tree.once("ready", resolve);
    tree.on("error", (error) => {
      report.failed(error);
      resolve();
    });
    tree.add(root);
  });
  try {
    await Promise.all(starting);
    ready = true;
    starting.length = 0;
    await refresh();
  } catch (error) {
    // Its watches would keep the process alive.
    closed = true;
    await tree.close();
    throw error;
  }
  return {
    refresh,
    async close() {
      closed = true;
      await tree.close();
      // What was under way may still fail, and nobody asks any more.
      tree.on("error", () => {});
    },
  };
}

/** "" is the root itself; what lies beside it starts with `..`, as no note does. */
const relativeTo = (root: string, path: string): string => relative(root, path).split(sep).join("/");

/** The folder whose watch a raw event came from, where chokidar tells. */
function watchedPathOf(details: unknown): string | null {
  if (typeof details !== "object" || details === null || !("watchedPath" in details)) return null;
  return typeof details.watchedPath === "string" ? details.watchedPath : null;
}
