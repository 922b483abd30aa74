/**
 * The base table: what each working file was last known to hold, and the signature under which it was read.
 * A snapshot file (`frozen-rows.ts`) and a journal of what came after. A torn or foreign line of the journal, or a
 * damaged snapshot, is left out; the table is then older than the disk, which costs a look and never a byte.
 */
import { appendFileSync, promises, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import { writePiecesDurably } from "../../lib/durable-pieces.ts";
import { asStorageError } from "../storage-error.ts";
import { type ChangedRows, changedRows } from "./changed-rows.ts";
import type { Known } from "./disk-look.ts";
import { freezeRows, noRows, type Row, readRows } from "./frozen-rows.ts";

export interface BaseTable {
  base(path: RepoPath): BlobId | null;
  known(path: RepoPath): Known | null;
  /** Paths with a base; of one folder and those below it when given. @cost then the folders there are, not the paths */
  paths(under?: string): Iterable<RepoPath>;
  setBase(path: RepoPath, blob: BlobId | null): void;
  setKnown(path: RepoPath, known: Known | null): void;
  /** Hand the changes so far to the journal: they survive a kill. @throws NotesError STORAGE */
  write(): void;
  /** Make the journal outlive a power cut. @throws NotesError STORAGE */
  sync(): Promise<void>;
  /**
   * Write the whole table anew, in slices, and begin an empty journal; nothing where it stands so already. Changes
   * that only the snapshot will hold are not in the journal meanwhile: a kill leaves them out.
   * @throws NotesError STORAGE
   */
  flush(): Promise<void>;
}

/** A journal over this and over the snapshot's own size is folded into the snapshot at the next sync. */
const MAX_JOURNAL_BYTES = 8 << 20;
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
  let frozen = noRows();
  /** What came after the snapshot. */
  let rows = changedRows();
  /** What came after it until a flush began that is writing it now; null when none is. */
  let taken: ChangedRows | null = null;
  /** Changed, and not in the journal yet. */
  let dirty = new Set<RepoPath>();
  let flushing: Promise<void> | null = null;
  let journalBytes = 0;
  let snapshotBytes = 0;
  let stale = true;

  const held = orAbsent(() => readFileSync(snapshot));
  if (held !== null) {
    snapshotBytes = held.length;
    const read = readRows(held);
    stale = read === null;
    if (read !== null) frozen = read;
    // Until version 0.2 the snapshot was lines, as the journal is.
    else replay(held.toString("utf8"));
  }
  const text = orAbsent(() => readFileSync(journal, "utf8")) ?? "";
  journalBytes = text.length;
  replay(text);

  function replay(lines: string): void {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf("\n", start);
      // Without its end a line is torn.
      const parsed = rowOf(lines.slice(start, end < 0 ? lines.length : end));
      if (parsed !== null) rows.set(parsed[0], parsed[1]);
      start = end < 0 ? lines.length : end + 1;
    }
  }

  const changedAt = (path: RepoPath) => rows.get(path) ?? taken?.get(path);
  const baseOf = (path: RepoPath) => {
    const changed = changedAt(path);
    return changed === undefined ? frozen.base(path) : changed.base;
  };
  const knownOf = (path: RepoPath) => {
    const changed = changedAt(path);
    return changed === undefined ? frozen.known(path) : changed.known;
  };

  function change(path: RepoPath, row: Row): void {
    rows.set(path, row);
    dirty.add(path);
  }

  const linesOf = (paths: Iterable<RepoPath>) =>
    Array.from(paths, (path) => lineOf(path, { base: baseOf(path), known: knownOf(path) })).join("");

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

  /** Every row as it stood when the flush began. */
  function* all(changed: ChangedRows): Generator<readonly [RepoPath, Row]> {
    for (const row of frozen.each()) if (changed.get(row[0]) === undefined) yield row;
    for (const row of changed.each()) if (!isNothing(row[1])) yield row;
  }

  async function flushNow(): Promise<void> {
    if (!stale && rows.size === 0 && journalBytes === 0) return;
    // The snapshot holds them, so a publication meanwhile need not.
    const covered = dirty;
    const changed = rows;
    dirty = new Set();
    taken = changed;
    rows = changedRows();
    try {
      const next = await freezeRows(all(changed));
      const bytes = await writePiecesDurably(snapshot, next.pieces(), 0o600);
      // What changed while that was written goes into the new journal, without a turn of the loop in between.
      const lines = linesOf(Array.from(rows.each(), ([path]) => path));
      writeDurablySync(journal, lines, { mode: 0o600 });
      dirty.clear();
      frozen = next;
      journalBytes = lines.length;
      snapshotBytes = bytes;
      stale = false;
    } catch (error) {
      for (const [path, row] of rows.each()) changed.set(path, row);
      rows = changed;
      for (const path of covered) dirty.add(path);
      throw asStorageError(error, "writing the table of working files");
    } finally {
      taken = null;
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
    base: baseOf,
    known: knownOf,
    *paths(under) {
      for (const path of frozen.paths(under)) if (changedAt(path) === undefined) yield path;
      for (const changed of [taken, rows]) {
        for (const [path, { base }] of changed?.each(under) ?? [])
          if (base !== null && (changed === rows || rows.get(path) === undefined)) yield path;
      }
    },
    setBase(path, blob) {
      if (baseOf(path) !== blob) change(path, { base: blob, known: knownOf(path) });
    },
    setKnown(path, known) {
      const before = knownOf(path);
      if (before?.signature !== known?.signature || before?.blob !== known?.blob)
        change(path, { base: baseOf(path), known });
    },
    write,
    sync,
    flush,
  };
}

const isNothing = ({ base, known }: Row) => base === null && known === null;
