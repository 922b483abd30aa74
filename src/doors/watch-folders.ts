/**
 * Watch a large tree, and Git's branches: one `fs.watch` a folder, the folders taken from the index; those that
 * appear are found through their parent. Not chokidar: at every event it reads the whole folder again, and looks
 * at each file in it. Invariant: a watch is on the folder that lies there now, or `refresh` makes it so.
 */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { mayHoldNotes } from "../domain/note-path.ts";
import { errnoOf } from "../lib/durable-file.ts";
import { folderOf } from "../lib/slash-path.ts";
import { childFolders, type FolderWatcher, folderIdentity, type WatchReport } from "./watching.ts";

/** `fs.watch` of one folder, as far as it is used here. */
export type WatchFolder = (
  folder: string,
  onEvent: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

const fsWatch: WatchFolder = (folder, onEvent) =>
  watch(folder, { persistent: false, recursive: false, encoding: "utf8" }, onEvent);

/**
 * @param folders  relative folders that hold notes, as the index knows them
 * @param mayHold  whether a name may be that of a folder to watch: at each event of another nothing is looked at
 * @returns when all of them are watched, or reported as failed
 */
export async function watchFolders(
  root: string,
  roots: readonly string[],
  folders: () => Iterable<string>,
  report: WatchReport,
  watchFolder: WatchFolder = fsWatch,
  mayHold = (folder: string) => mayHoldNotes(folder, roots),
): Promise<FolderWatcher> {
  const watched = new Map<string, { identity: string; watcher: Pick<FSWatcher, "close"> }>();
  let closed = false;

  function drop(folder: string): void {
    watched.get(folder)?.watcher.close();
    watched.delete(folder);
  }

  /** Watch a folder if it is one and isn't watched as it lies there now. @returns whether it is new to us */
  async function add(folder: string): Promise<boolean> {
    const identity = await folderIdentity(join(root, folder));
    const known = watched.get(folder)?.identity;
    if (identity === null || known !== identity) drop(folder);
    if (identity === null || known === identity || closed) return false;
    try {
      const watcher = watchFolder(join(root, folder), (event, name) => onEvent(folder, name, event));
      watcher.on("error", (error) => {
        drop(folder);
        report.failed(error);
      });
      watched.set(folder, { identity, watcher });
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") report.failed(error);
    }
    return true;
  }

  /** Watch a folder that isn't yet, and everything in it. @returns whether there was anything new */
  async function addDeep(folder: string): Promise<boolean> {
    if (!mayHold(folder) || !(await add(folder))) return false;
    for (const child of await childFolders(join(root, folder))) {
      await addDeep(folder === "" ? child : `${folder}/${child}`);
    }
    return true;
  }

  async function lookFor(folder: string): Promise<void> {
    if (await addDeep(folder)) report.changed(folder);
  }

  function onEvent(folder: string, name: string | null, event: string): void {
    const path = name === null ? folder : folder === "" ? name : `${folder}/${name}`;
    if (path.endsWith(".md")) report.changed(path);
    else if (mayHold(path)) {
      report.changed(path);
      // Made, removed or renamed: a watch on what lay there before is deaf.
      if (event === "rename") drop(path);
      lookFor(path).catch(report.failed);
    }
  }

  async function refresh(): Promise<void> {
    const wanted = new Set<string>([""]);
    for (let folder of [...folders(), ...roots.filter((name) => name !== ".")]) {
      for (; folder !== "" && !wanted.has(folder); folder = folderOf(folder)) wanted.add(folder);
    }
    for (const folder of new Set([...wanted, ...watched.keys()])) await addDeep(folder);
  }

  function close(): void {
    closed = true;
    for (const folder of [...watched.keys()]) drop(folder);
  }

  try {
    await refresh();
  } catch (error) {
    close();
    throw error;
  }
  return { refresh, close: async () => close() };
}
