/**
 * Sweeps over all working files: what a scan finds changed, compared with the base table, file by file. Between
 * sweeps one digest a folder is remembered. Invariant: a folder is remembered only when everybody who was told of
 * its files had taken it in, so what a failed sweep found is found again.
 */
import type { RepoPath } from "../../domain/note.ts";
import { folderOf } from "../../lib/slash-path.ts";
import { slicer } from "../../lib/slicer.ts";
import type { DiskFile } from "../note-store.ts";
import type { PathFilter } from "../trees/tree-diff.ts";
import type { BaseTable } from "./base-table.ts";
import type { WalkedPart } from "./folder-walk.ts";
import type { ScanWork, Seen } from "./scan.ts";
import { type Scanner, sliceScanner, threadScanner } from "./scanner.ts";

export interface SweepParts {
  readonly work: Omit<ScanWork, "known">;
  readonly notes: PathFilter;
  readonly table: BaseTable;
  /** Look at one file here, with all that is known of intents. */
  readonly look: (path: RepoPath) => DiskFile;
  /** A thread broke; the sweep goes on without. */
  readonly troubled: (error: unknown) => void;
  /** Default: this package's thread. */
  readonly thread?: (work: ScanWork) => Scanner;
  /** Trees of more files are scanned in a thread; default 2,000. */
  readonly threadFromFiles?: number;
}

export type Sweep = (afresh: boolean) => AsyncGenerator<readonly DiskFile[]>;

/** Where starting a thread costs as much as the scan. */
const THREAD_FROM_FILES = 2_000;
/** Files looked at in one request to a thread. */
const LOOK_FILES = 128;

/** The sweeps of one working tree. Nothing is remembered yet. */
export function openSweep(parts: SweepParts): Sweep {
  const { threadFromFiles = THREAD_FROM_FILES, thread = threadScanner } = parts;
  let known = new Map<string, string>();
  let large = false;

  /** @returns null when a tree turns out too large to go on here */
  async function* sweepBy(
    scanner: Scanner,
    mayTell: (files: number) => boolean,
  ): AsyncGenerator<readonly DiskFile[], SweepEnd | null> {
    const told = new Map<string, string | null>();
    const found = new Set<RepoPath>();
    try {
      for (;;) {
        const { parts: walked, end } = await scanner.walk();
        for (const part of walked) {
          yield* compared(parts, scanner, part, told, found);
          if (!mayTell(found.size)) return null;
        }
        if (end === null) continue;
        for (const folder of end.gone) told.set(folder, null);
        yield* missing(parts, (folder) => told.has(folder) || !known.has(folder), found);
        return { told, files: end.files };
      }
    } finally {
      scanner.close();
    }
  }

  function remember({ told, files }: SweepEnd): void {
    for (const [folder, digest] of told) {
      if (digest === null) known.delete(folder);
      else known.set(folder, digest);
    }
    large = files > threadFromFiles;
  }

  return async function* sweep(afresh: boolean): AsyncGenerator<readonly DiskFile[]> {
    if (afresh) known = new Map();
    const work = { ...parts.work, known };
    if (large) {
      const ends: unknown[] = [];
      try {
        const end = yield* sweepBy(telling(thread(work), ends), () => true);
        if (end !== null) remember(end);
        return;
      } catch (error) {
        // Only a thread that ended is done without: what was refused here would be refused again.
        if (!ends.includes(error)) throw error;
        parts.troubled(error);
      }
    }
    const few = (files: number) => large || files <= threadFromFiles;
    const end = yield* sweepBy(sliceScanner(work), few);
    if (end !== null) return remember(end);
    large = true;
    yield* sweep(false);
  };
}

/** A scanner that keeps what its own calls failed with. */
function telling(scanner: Scanner, failures: unknown[]): Scanner {
  const keep = (error: unknown): never => {
    failures.push(error);
    throw error;
  };
  return {
    walk: () => scanner.walk().catch(keep),
    look: (paths) => scanner.look(paths).catch(keep),
    close: scanner.close,
  };
}

interface SweepEnd {
  /** Folders that were told of, and what to remember of them; null: nothing. */
  readonly told: ReadonlyMap<string, string | null>;
  readonly files: number;
}

/** The files of one part of a folder: those the table knows by their signature, and the others looked at. */
async function* compared(
  { table, look }: SweepParts,
  scanner: Scanner,
  { folder, names, signatures, digest }: WalkedPart,
  told: Map<string, string | null>,
  found: Set<RepoPath>,
): AsyncGenerator<readonly DiskFile[]> {
  const files: DiskFile[] = [];
  const unknown: RepoPath[] = [];
  for (const [i, name] of names.entries()) {
    // Joined from names below the root, so it is relative and slash separated.
    const path = (folder === "" ? name : `${folder}/${name}`) as RepoPath;
    found.add(path);
    const known = table.known(path);
    const signature = signatures[i] ?? "";
    if (known === null || signature === "" || known.signature !== signature) unknown.push(path);
    else files.push({ kind: "file", path, blob: known.blob, mtimeMs: mtimeMsOf(signature) });
  }
  let young = false;
  for (let start = 0; start < unknown.length; start += LOOK_FILES) {
    const some = unknown.slice(start, start + LOOK_FILES);
    const before = some.map(table.base);
    const seen = await scanner.look(some);
    for (const [i, path] of some.entries()) {
      const one = seen[i];
      // Placed or adopted meanwhile, or a second link that an intent may explain: what was seen says nothing.
      if (one === undefined || one.kind === "unfit" || table.base(path) !== before[i]) {
        const now = look(path);
        young ||= now.kind === "file";
        files.push(now);
      } else {
        young ||= one.kind === "file" && one.signature === null;
        files.push(learn(table, path, one));
      }
    }
  }
  if (young) told.set(folder, null);
  else if (digest !== undefined && told.get(folder) !== null) told.set(folder, digest);
  if (files.length > 0) yield files;
}

function learn(table: BaseTable, path: RepoPath, seen: Exclude<Seen, { kind: "unfit" }>): DiskFile {
  if (seen.kind === "absent") {
    table.setKnown(path, null);
    return { kind: "absent", path };
  }
  const { blob, signature, mtimeMs } = seen;
  table.setKnown(path, signature === null ? null : { signature, blob });
  return { kind: "file", path, blob, mtimeMs };
}

/** Base paths where no file was found, of the folders that changed or were gone before they were ever remembered. */
async function* missing(
  { table, notes, look }: SweepParts,
  changed: (folder: string) => boolean,
  found: ReadonlySet<RepoPath>,
): AsyncGenerator<readonly DiskFile[]> {
  const turn = slicer();
  for (const path of table.paths()) {
    if (changed(folderOf(path)) && !found.has(path) && notes.file(path)) yield [look(path)];
    const pause = turn();
    if (pause !== null) await pause;
  }
}

const mtimeMsOf = (signature: string): number => Number(signature.split(":")[2]) / 1e6;
