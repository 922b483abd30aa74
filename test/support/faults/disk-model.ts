/**
 * What a disk holds for sure: for each file the bytes that were synced last, for each folder the names that were.
 * Follows the calls of a tapped process. `power-cut.ts` makes folders of it.
 * Invariant: nothing counts as durable that the process didn't sync itself; what lay there before it began does.
 */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { FsCall } from "./fs-calls.ts";
import { type FsHook, untapped } from "./fs-tap.ts";

export interface FileNode {
  readonly kind: "file";
  readonly mode: number;
  /** As the process sees it: what its intents name it by. */
  readonly ino: bigint;
  /** Bytes and time of the last sync; null: never. */
  synced: { readonly bytes: Buffer; readonly mtimeNs: bigint; readonly ctimeNs: bigint } | null;
  /** Where its bytes can be read now, if it has a name still. */
  path: string | null;
}

export interface FolderNode {
  readonly kind: "folder";
  readonly names: Map<string, Node>;
  synced: ReadonlyMap<string, Node>;
}

export type Node = FileNode | FolderNode;

/** A name that came, went or changed its file, in the order of a journal. */
export interface NameChange {
  readonly folder: FolderNode;
  readonly name: string;
  readonly before: Node | null;
}

export interface DiskModel extends FsHook {
  readonly root: FolderNode;
  /** Changes of names since the beginning. */
  readonly journal: readonly NameChange[];
  /** So many of them are durable where a sync makes the whole journal durable, as on ext4. */
  readonly committed: number;
  after(call: FsCall): void;
  /** Take what others (native Git) wrote since for durable. */
  learn(): void;
}

/** Begin with a folder as it lies there. */
export function diskModel(path: string): DiskModel {
  const journal: NameChange[] = [];
  let committed = 0;
  const syncing = new Map<string, { bytes: Buffer; mtimeNs: bigint; ctimeNs: bigint }>();

  function read(file: string): FileNode {
    const { mode, ino, mtimeNs, ctimeNs } = lstatSync(file, { bigint: true });
    const synced = { bytes: readFileSync(file), mtimeNs, ctimeNs };
    return { kind: "file", mode: Number(mode & 0o777n), ino, synced, path: file };
  }

  function scan(folder: string): FolderNode {
    const names = new Map<string, Node>();
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const below = join(folder, entry.name);
      names.set(entry.name, entry.isDirectory() ? scan(below) : read(below));
    }
    return { kind: "folder", names, synced: new Map(names) };
  }

  const root = untapped(() => scan(path));

  function at(target: string): Node | null {
    let node: Node | undefined = root;
    for (const part of relative(path, target)
      .split("/")
      .filter((p) => p !== "")) {
      node = node?.kind === "folder" ? node.names.get(part) : undefined;
    }
    return node ?? null;
  }

  function change(target: string, node: Node | null): void {
    const folder = at(dirname(target));
    if (folder?.kind !== "folder") return;
    const name = basename(target);
    const before = folder.names.get(name) ?? null;
    if (before === node) return;
    if (node === null) folder.names.delete(name);
    else folder.names.set(name, node);
    if (node?.kind === "file") node.path = target;
    journal.push({ folder, name, before });
  }

  /** A file that the process just made: its name and bytes are in memory only. */
  function made(target: string): void {
    const stat = lstatSync(target, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined || at(target) !== null) return;
    change(target, {
      kind: "file",
      mode: Number(stat.mode & 0o777n),
      ino: stat.ino,
      synced: null,
      path: target,
    });
  }

  function folderMade(target: string): void {
    if (at(target) !== null || target === path) return;
    folderMade(dirname(target));
    change(target, { kind: "folder", names: new Map(), synced: new Map() });
  }

  function moved(from: string, to: string): void {
    const node = at(from);
    if (node === null || node === at(to)) return;
    change(to, node);
    change(from, null);
  }

  function synced(target: string): void {
    const node = at(target);
    if (node?.kind === "folder") node.synced = new Map(node.names);
    const content = syncing.get(target);
    if (node?.kind === "file" && content !== undefined) node.synced = content;
    committed = journal.length;
  }

  function learnFolder(folder: FolderNode, where: string): void {
    const found = new Set<string>();
    for (const entry of readdirSync(where, { withFileTypes: true })) {
      found.add(entry.name);
      const below = join(where, entry.name);
      const known = folder.names.get(entry.name);
      if (entry.isDirectory()) {
        if (known?.kind === "folder") learnFolder(known, below);
        else settle(folder, entry.name, scan(below));
        continue;
      }
      const ino = lstatSync(below, { bigint: true }).ino;
      if (known?.kind !== "file" || known.ino !== ino) settle(folder, entry.name, read(below));
    }
    for (const name of folder.names.keys()) if (!found.has(name)) settle(folder, name, null);
  }

  function settle(folder: FolderNode, name: string, node: Node | null): void {
    const durable = new Map(folder.synced);
    journal.push({ folder, name, before: folder.names.get(name) ?? null });
    for (const names of [folder.names, durable]) {
      if (node === null) names.delete(name);
      else names.set(name, node);
    }
    folder.synced = durable;
    committed = journal.length;
  }

  function follow({ op, path: target, to, mutates }: FsCall): void {
    switch (op) {
      case "open":
      case "writeFile":
      case "appendFile":
        if (mutates) made(target);
        return;
      case "mkdir":
        folderMade(target);
        return;
      case "rename":
        if (to !== null) moved(target, to);
        return;
      case "link": {
        const node = at(target);
        if (to !== null && node !== null) change(to, node);
        return;
      }
      case "unlink":
      case "rmdir":
      case "rm":
        change(target, null);
        return;
      case "fsync":
      case "fdatasync":
        synced(target);
    }
  }

  return {
    root,
    journal,
    get committed() {
      return committed;
    },
    before(call) {
      if (call.op !== "fsync" && call.op !== "fdatasync") return null;
      // What is written while a sync is under way may miss it.
      untapped(() => {
        const stat = lstatSync(call.path, { bigint: true, throwIfNoEntry: false });
        if (stat?.isFile() !== true) return;
        const { mtimeNs, ctimeNs } = stat;
        syncing.set(call.path, { bytes: readFileSync(call.path), mtimeNs, ctimeNs });
      });
      return null;
    },
    after: (call) => untapped(() => follow(call)),
    learn: () => untapped(() => learnFolder(root, path)),
  };
}
