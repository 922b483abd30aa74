/**
 * The working tree as the store sees it: looks at files, keeps the base table, and hands files to
 * `bring-forward.ts`. Nothing here commits, and nothing here writes a working file.
 */
import { join } from "node:path";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { byBytes } from "../../lib/byte-order.ts";
import { slicer } from "../../lib/slicer.ts";
import type { DiskFile, WorkTree } from "../note-store.ts";
import { asStorageError } from "../storage-error.ts";
import type { PathFilter } from "../trees/tree-diff.ts";
import type { BaseTable } from "./base-table.ts";
import { type Look, type LookRules, lookAt, type PlainFolders } from "./disk-look.ts";
import { notePathsBelow } from "./disk-scan.ts";
import { signatureOf, signatureText } from "./file-signature.ts";
import { openSweep, type SweepParts } from "./sweep.ts";

/** What the publication needs beside the public face. */
export interface StoreWorkTree extends WorkTree {
  /** Look at one file, learning its signature. @throws NotesError STORAGE */
  look(path: RepoPath, plain?: PlainFolders): Look;
  /** A file was placed, or adopted, and holds `blob`: base follows, and the next look reads the file. */
  holds(path: RepoPath, blob: BlobId | null): void;
}

interface WorkTreeSettings {
  readonly rules: LookRules;
  readonly roots: readonly string[];
  readonly notes: PathFilter;
  readonly table: BaseTable;
  readonly bringForward: WorkTree["bringForward"];
  /** See `SweepParts`. */
  readonly troubled: SweepParts["troubled"];
}

/** Open the working tree of a store. Nothing is looked at yet. */
export function openWorkTree(settings: WorkTreeSettings): StoreWorkTree {
  const { rules, roots, notes, table, bringForward, troubled } = settings;
  const { root, maxBytes } = rules;

  function look(path: RepoPath, plain?: PlainFolders): Look {
    try {
      const found = lookAt(rules, path, table.known(path), plain);
      const known =
        found.kind === "file" && found.settled
          ? { signature: signatureText(signatureOf(found.stat)), blob: found.blob }
          : null;
      table.setKnown(path, known);
      return found;
    } catch (error) {
      throw asStorageError(error, `reading ${join(root, path)}`);
    }
  }

  function describe(path: RepoPath, plain?: PlainFolders): DiskFile {
    const found = look(path, plain);
    switch (found.kind) {
      case "file":
        return { kind: "file", path, blob: found.blob, mtimeMs: Number(found.stat.mtimeNs / 1_000n) / 1_000 };
      case "absent":
        return { kind: "absent", path };
      case "unfit":
        return { kind: "unfit", path, reason: found.reason };
    }
  }

  const sweepParts = {
    work: { root, roots, maxBytes },
    notes,
    table,
    look: (path: RepoPath) => describe(path),
    troubled,
  };

  async function scan(paths?: Iterable<RepoPath>): Promise<DiskFile[]> {
    const found = new Map<RepoPath, DiskFile>();
    if (paths === undefined) {
      for await (const files of openSweep(sweepParts)(true))
        for (const file of files) found.set(file.path, file);
      return [...found.values()].sort((a, b) => byBytes(a.path, b.path));
    }
    const turn = slicer();
    // What is no note is not looked at, whoever hints at it: what isn't looked at is never committed.
    let plain: PlainFolders = new Set();
    for (const path of [...new Set(paths)].filter(notes.file).sort(byBytes)) {
      found.set(path, describe(path, plain));
      const pause = turn();
      if (pause === null) continue;
      await pause;
      plain = new Set();
    }
    return [...found.values()];
  }

  return {
    root,
    look,
    scan,
    sweep: openSweep(sweepParts),
    bringForward,
    base: table.base,
    basePaths: table.paths,
    under: async (folder) => [...(await notePathsBelow(root, [folder], notes))].sort(byBytes),
    async read(path) {
      try {
        const found = lookAt(rules, path, null);
        return found.kind === "file" ? found.bytes : null;
      } catch (error) {
        throw asStorageError(error, `reading ${join(root, path)}`);
      }
    },
    accept: table.setBase,
    holds(path, blob) {
      table.setBase(path, blob);
      table.setKnown(path, null);
    },
    flush: table.flush,
  };
}
