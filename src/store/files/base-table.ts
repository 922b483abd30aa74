/**
 * The base table: what each working file was last known to hold, and the signature under which it was read.
 * A snapshot file and a journal of what came after. A torn or foreign line of the journal is left out; the
 * table is then older than the disk, which costs a look and never a byte.
 */
import { appendFileSync, promises, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { orAbsent, writeDurably, writeDurablySync } from "../../lib/durable-file.ts";
import { folderOf } from "../../lib/slash-path.ts";
import { asStorageError } from "../storage-error.ts";
import type { Known } from "./disk-look.ts";

interface Row {
  readonly base: BlobId | null;
  /** What lay on disk at the last settled look; base need not be the same. */
  readonly known: Known | null;
}

export interface BaseTable {
  base(path: RepoPath): BlobId | null;
  known(path: RepoPath): Known | null;
  /** Paths with a base; of one folder and those below it when given. @cost then the folders there are, not the paths */
  paths(under?: string): Iterable<RepoPath>;
  setBase(path: RepoPath, blob: BlobId | null): void;
  setKnown(path: RepoPath, known: Known | null): void;
  /** How many files it knows. */
  readonly size: number;
  /** Hand the changes so far to the journal: they survive a kill. @throws NotesError STORAGE */
  write(): void;
  /** Make the journal outlive a power cut. @throws NotesError STORAGE */
  sync(): Promise<void>;
  /**
   * Write the whole table anew, in slices, and begin an empty journal. Changes that only the snapshot will hold are
   * not in the journal meanwhile: a kill leaves them out.
   * @throws NotesError STORAGE
   */
  flush(): Promise<void>;
}

const NOTHING: Row = { base: null, known: null };
/** A journal over this and over the snapshot's own size is folded into the snapshot at the next sync. */
const MAX_JOURNAL_BYTES = 8 << 20;
/** Lines written at once: a few milliseconds of work. */
const SLICE_LINES = 1000;
const LINE = /^(([0-9a-f]{40}|-) ([0-9a-f]{40}|-) (\S+) (".*"))$/;

function lineOf(path: RepoPath, { base, known }: Row): string {
  const text = `${base ?? "-"} ${known?.blob ?? "-"} ${known?.signature ?? "-"} ${JSON.stringify(path)}`;
  return `${crc32(text).toString(16).padStart(8, "0")} ${text}\n`;
}

/** Read one line back; null when it is torn or no line of ours. */
function rowOf(line: string): readonly [RepoPath, Row] | null {
  const text = line.slice(9);
  // Most of the cost is here, so the form is looked at after the checksum and its parts are not cut out twice.
  if (text === "" || crc32(text) !== Number.parseInt(line.slice(0, 8), 16)) return null;
  const [, , base, blob, signature, quoted] = LINE.exec(text) ?? [];
  if (base === undefined || blob === undefined || signature === undefined || quoted === undefined)
    return null;
  // The line is as we wrote it, the checksum says so: 40 hex digits and a path.
  const known = blob === "-" ? null : { blob: (blob === base ? base : blob) as BlobId, signature };
  return [JSON.parse(quoted) as RepoPath, { base: base === "-" ? null : (base as BlobId), known }];
}

/** Open the table of a repository. @param folder `<gitdir>/notesd`, which must exist */
export function openBaseTable(folder: string): BaseTable {
  const snapshot = join(folder, "base");
  const journal = join(folder, "base.log");
  const rows = new Map<RepoPath, Row>();
  const byFolder = new Map<string, Set<RepoPath>>();
  /** Changed, and not in the journal yet. */
  let dirty = new Set<RepoPath>();
  /** Changed while a flush is writing the snapshot; null when none is. */
  let since: Set<RepoPath> | null = null;
  let flushing: Promise<void> | null = null;
  let journalBytes = 0;
  let snapshotBytes = 0;

  for (const file of [snapshot, journal]) {
    const text = orAbsent(() => readFileSync(file, "utf8")) ?? "";
    if (file === journal) journalBytes = text.length;
    else snapshotBytes = text.length;
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      // Without its end a line is torn.
      const parsed = rowOf(text.slice(start, end < 0 ? text.length : end));
      if (parsed !== null) keep(parsed[0], parsed[1]);
      start = end < 0 ? text.length : end + 1;
    }
  }

  function keep(path: RepoPath, row: Row): void {
    const isNew = !rows.has(path);
    if (row.base !== null || row.known !== null) {
      rows.set(path, row);
      if (isNew) enter(path);
    } else if (rows.delete(path)) leave(path);
  }

  function enter(path: RepoPath): void {
    const at = folderOf(path);
    const paths = byFolder.get(at);
    if (paths === undefined) byFolder.set(at, new Set([path]));
    else paths.add(path);
  }

  function leave(path: RepoPath): void {
    const at = folderOf(path);
    const paths = byFolder.get(at);
    paths?.delete(path);
    if (paths?.size === 0) byFolder.delete(at);
  }

  function change(path: RepoPath, part: Partial<Row>): void {
    const before = rows.get(path) ?? NOTHING;
    keep(path, { ...before, ...part });
    dirty.add(path);
    since?.add(path);
  }

  const lineAt = (path: RepoPath) => lineOf(path, rows.get(path) ?? NOTHING);
  const linesOf = (paths: Iterable<RepoPath>) => Array.from(paths, lineAt).join("");

  function write(): void {
    if (dirty.size === 0) return;
    const lines = linesOf(dirty);
    try {
      // A line that a crash cut short must not swallow the next one.
      appendFileSync(journal, `\n${lines}`);
    } catch (error) {
      throw asStorageError(error, "writing the table of working files");
    }
    journalBytes += lines.length + 1;
    dirty.clear();
  }

  /** The whole table as it is when each slice is written. */
  async function* slices(): AsyncGenerator<string> {
    let lines: string[] = [];
    let bytes = 0;
    for (const [path, row] of rows) {
      const line = lineOf(path, row);
      lines.push(line);
      bytes += line.length;
      if (lines.length < SLICE_LINES) continue;
      yield lines.join("");
      lines = [];
    }
    yield lines.join("");
    snapshotBytes = bytes;
  }

  async function flushNow(): Promise<void> {
    // The snapshot holds them, so a publication meanwhile need not.
    const covered = dirty;
    dirty = new Set();
    since = new Set();
    try {
      await writeDurably(snapshot, slices(), { mode: 0o600 });
      // What changed while that was written goes into the new journal, without a turn of the loop in between.
      const lines = linesOf(since);
      writeDurablySync(journal, lines, { mode: 0o600 });
      dirty.clear();
      journalBytes = lines.length;
    } catch (error) {
      for (const path of covered) dirty.add(path);
      throw asStorageError(error, "writing the table of working files");
    } finally {
      since = null;
    }
  }

  function flush(): Promise<void> {
    flushing ??= flushNow().finally(() => {
      flushing = null;
    });
    return flushing;
  }

  async function sync(): Promise<void> {
    // It may be writing what a failed write had left.
    await flushing;
    write();
    if (journalBytes > Math.max(MAX_JOURNAL_BYTES, snapshotBytes)) return flush();
    if (journalBytes === 0) return;
    try {
      const handle = await promises.open(journal, "r+");
      await handle.datasync().finally(() => handle.close());
    } catch (error) {
      throw asStorageError(error, "writing the table of working files");
    }
  }

  return {
    base: (path) => rows.get(path)?.base ?? null,
    known: (path) => rows.get(path)?.known ?? null,
    get size() {
      return rows.size;
    },
    *paths(under) {
      if (under === undefined) {
        for (const [path, { base }] of rows) if (base !== null) yield path;
        return;
      }
      for (const [folder, paths] of byFolder) {
        if (folder !== under && !folder.startsWith(`${under}/`)) continue;
        for (const path of paths) if ((rows.get(path)?.base ?? null) !== null) yield path;
      }
    },
    setBase: (path, blob) => {
      if ((rows.get(path)?.base ?? null) !== blob) change(path, { base: blob });
    },
    setKnown(path, known) {
      const before = rows.get(path)?.known ?? null;
      if (before?.signature !== known?.signature || before?.blob !== known?.blob) change(path, { known });
    },
    write,
    sync,
    flush,
  };
}
