/**
 * The folder that a power cut leaves, made of what `disk-model.ts` knows to be durable. Three disks: `strict` keeps a
 * name only when its folder was synced; `ordered` keeps all names, as a journal that was written just in time, and of
 * each file what was synced; `mixed` keeps the names up to a moment, and of each file the old or the new bytes or some.
 * Copies have other inodes and times than their originals, so intents are told the new ones.
 */
import { linkSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logLine, readLog } from "../../../src/store/commit/intent-log.ts";
import type { Intent } from "../../../src/store/commit/intents.ts";
import type { DiskModel, FileNode, FolderNode, Node } from "./disk-model.ts";
import { untapped } from "./fs-tap.ts";

export type Disk = "strict" | "ordered" | "mixed";

type Names = (folder: FolderNode) => ReadonlyMap<string, Node>;
type Content = (file: FileNode) => Buffer;

const syncedBytes: Content = (file) => file.synced?.bytes ?? Buffer.alloc(0);

/** What each folder held when the journal was this long. */
function namesAt({ journal }: DiskModel, moment: number): Names {
  const undone = new Map<FolderNode, Map<string, Node>>();
  for (const { folder, name, before } of journal.slice(moment).reverse()) {
    const names = undone.get(folder) ?? new Map(folder.names);
    undone.set(folder, names);
    if (before === null) names.delete(name);
    else names.set(name, before);
  }
  return (folder) => undone.get(folder) ?? folder.names;
}

/** Bytes of a file that were written and may have missed the disk. */
function liveBytes(file: FileNode): Buffer | null {
  const stat = file.path === null ? undefined : lstatSync(file.path, { bigint: true, throwIfNoEntry: false });
  return file.path === null || stat?.ino !== file.ino ? null : readFileSync(file.path);
}

function mixedContent(whole: (below: number) => number): Content {
  return (file) => {
    const synced = syncedBytes(file);
    const live = liveBytes(file) ?? synced;
    if (live.equals(synced)) return synced;
    // What was only added to keeps what was synced; what was written anew may be cut anywhere.
    const sure = live.subarray(0, synced.length).equals(synced) ? synced.length : 0;
    const kept = [synced, live, live.subarray(0, sure + whole(live.length - sure + 1))];
    return kept[whole(kept.length)] ?? synced;
  };
}

/**
 * Cut the power.
 * @param to a folder that doesn't exist yet
 * @param whole numbers for the mixed disk
 */
export function cutPower(model: DiskModel, to: string, disk: Disk, whole: (below: number) => number): void {
  untapped(() => {
    const moment = model.committed + whole(model.journal.length - model.committed + 1);
    const names: Names =
      disk === "strict"
        ? (folder) => folder.synced
        : disk === "ordered"
          ? (folder) => folder.names
          : namesAt(model, moment);
    const content = disk === "mixed" ? mixedContent(whole) : syncedBytes;
    const made = new Map<FileNode, string>();
    write(model.root, to, names, content, made);
    tellIntents(made);
  });
}

function write(
  folder: FolderNode,
  to: string,
  names: Names,
  content: Content,
  made: Map<FileNode, string>,
): void {
  mkdirSync(to);
  for (const [name, node] of names(folder)) {
    const path = join(to, name);
    if (node.kind === "folder") {
      write(node, path, names, content, made);
      continue;
    }
    const first = made.get(node);
    if (first === undefined) {
      writeFileSync(path, content(node), { mode: node.mode });
      made.set(node, path);
    } else linkSync(first, path);
  }
}

/** Inodes and times in intents, from those of the originals to those of the copies. */
function tellIntents(made: ReadonlyMap<FileNode, string>): void {
  const copies = new Map([...made].map(([node, path]) => [String(node.ino), { node, path }]));
  function told<Signed extends { readonly ino: string; readonly mtimeNs: string }>(signed: Signed): Signed {
    const copy = copies.get(signed.ino);
    if (copy === undefined) return { ...signed, ino: "0" };
    const { ino, mtimeNs, ctimeNs } = lstatSync(copy.path, { bigint: true });
    const { synced } = copy.node;
    const stands = synced === null || signed.mtimeNs === String(synced.mtimeNs);
    const times = "ctimeNs" in signed ? { mtimeNs, ctimeNs } : { mtimeNs };
    const now = Object.fromEntries(Object.entries(times).map(([key, value]) => [key, String(value)]));
    return { ...signed, ino: String(ino), ...(stands ? now : {}) };
  }
  const moved = (intent: Intent): Intent => ({
    ...intent,
    boot: "the run before the power went",
    files: intent.files.map((file) => ({
      ...file,
      replaced: file.replaced === null ? null : told(file.replaced),
      prepared: file.prepared === null ? null : told(file.prepared),
    })),
  });
  for (const path of made.values()) {
    if (!/\/notesd\/intents\/\d+\.log$/.test(path)) continue;
    const bytes = readFileSync(path);
    const { entries, end } = readLog(bytes);
    const lines = entries.map((entry) =>
      logLine("open" in entry ? { ...entry, intent: moved(entry.intent) } : entry, 0),
    );
    // What the power cut tore stays torn.
    writeFileSync(path, Buffer.concat([...lines, bytes.subarray(end)]));
  }
}
