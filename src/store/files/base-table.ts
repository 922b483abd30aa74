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
  paths(): Iterable<RepoPath>;
  setBase(path: RepoPath, blob: BlobId | null): void;
  setKnown(path: RepoPath, known: Known | null): void;
  /** Hand the changes so far to the journal: they survive a kill. @throws NotesError STORAGE */
  write(): void;
  /** Make the journal outlive a power cut. @throws NotesError STORAGE */
  sync(): Promise<void>;
  /** Write the whole table anew and begin an empty journal. @throws NotesError STORAGE */
  flush(): Promise<void>;
}

/** A journal over this is folded into the snapshot at the next sync. */
const MAX_JOURNAL_BYTES = 8 << 20;
const LINE = /^([0-9a-f]{8}) (([0-9a-f]{40}|-) ([0-9a-f]{40}|-) (\S+) (".*"))$/;

function lineOf(path: RepoPath, { base, known }: Row): string {
  const text = `${base ?? "-"} ${known?.blob ?? "-"} ${known?.signature ?? "-"} ${JSON.stringify(path)}`;
  return `${crc32(text).toString(16).padStart(8, "0")} ${text}\n`;
}

/** Read one line back; null when it is torn or no line of ours. */
function rowOf(line: string): readonly [RepoPath, Row] | null {
  const [, crc, text, base, blob, signature, quoted] = LINE.exec(line) ?? [];
  if (crc === undefined || text === undefined || signature === undefined || quoted === undefined) return null;
  if (crc32(text) !== Number.parseInt(crc, 16)) return null;
  // The line is as we wrote it, the checksum says so: 40 hex digits and a path.
  const known = blob === "-" ? null : { blob: blob as BlobId, signature };
  return [JSON.parse(quoted) as RepoPath, { base: base === "-" ? null : (base as BlobId), known }];
}

/** Open the table of a repository. @param folder `<gitdir>/notesd`, which must exist */
export function openBaseTable(folder: string): BaseTable {
  const snapshot = join(folder, "base");
  const journal = join(folder, "base.log");
  const rows = new Map<RepoPath, Row>();
  /** Changed, and not in the journal yet. */
  const dirty = new Set<RepoPath>();
  /** Changed while a flush is writing the snapshot; null when none is. */
  let since: Set<RepoPath> | null = null;
  let flushing: Promise<void> | null = null;
  let journalBytes = 0;

  for (const file of [snapshot, journal]) {
    const text = orAbsent(() => readFileSync(file, "utf8")) ?? "";
    if (file === journal) journalBytes = text.length;
    for (const line of text.split("\n")) {
      const parsed = rowOf(line);
      if (parsed !== null) keep(parsed[0], parsed[1]);
    }
  }

  function keep(path: RepoPath, row: Row): void {
    if (row.base === null && row.known === null) rows.delete(path);
    else rows.set(path, row);
  }

  function change(path: RepoPath, part: Partial<Row>): void {
    const before = rows.get(path) ?? { base: null, known: null };
    keep(path, { ...before, ...part });
    dirty.add(path);
    since?.add(path);
  }

  const linesOf = (paths: Iterable<RepoPath>) =>
    [...paths].map((path) => lineOf(path, rows.get(path) ?? { base: null, known: null })).join("");

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

  async function flushNow(): Promise<void> {
    since = new Set();
    try {
      await writeDurably(snapshot, linesOf(rows.keys()), { mode: 0o600 });
      // What changed while that was written goes into the new journal, without a turn of the loop in between.
      const lines = linesOf(since);
      writeDurablySync(journal, lines, { mode: 0o600 });
      dirty.clear();
      journalBytes = lines.length;
    } catch (error) {
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
    write();
    if (journalBytes > MAX_JOURNAL_BYTES) return flush();
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
    *paths() {
      for (const [path, { base }] of rows) if (base !== null) yield path;
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
