/**
 * What each working file was last known to hold, for very many files in few pieces of memory: the columns of a file
 * that are read and written as they are, by folder. Never changes; what came after is `base-table.ts`.
 */
import { crc32 } from "node:zlib";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { Bytes, counts, flags, mustBeLevel, type Rows } from "../../lib/held/column.ts";
import { HexRows } from "../../lib/held/hex-rows.ts";
import { TextPool } from "../../lib/held/text-pool.ts";
import { folderOf } from "../../lib/slash-path.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Known } from "./disk-look.ts";

export interface Row {
  readonly base: BlobId | null;
  /** What lay on disk at the last settled look; base need not be the same. */
  readonly known: Known | null;
}

export interface FrozenRows {
  readonly size: number;
  has(path: RepoPath): boolean;
  base(path: RepoPath): BlobId | null;
  known(path: RepoPath): Known | null;
  /** Every row; of one folder and those below it when given. */
  each(under?: string): Generator<readonly [RepoPath, Row]>;
  /** Paths with a base, likewise. */
  paths(under?: string): Generator<RepoPath>;
  /** The bytes for `readRows`, in pieces of some hundred kilobytes. */
  pieces(): Generator<Uint8Array>;
}

const MAGIC = "notesd-base";
const FORMAT = 1;
const PIECE_BYTES = 256 << 10;
const CHECKSUM_BYTES = 8;
const NO_BLOB = "0".repeat(40);
const HAS_BASE = 1;
const HAS_KNOWN = 2;

interface Line {
  readonly magic: string;
  readonly format: number;
  /** Each with the number of its last path; paths lie by folder. */
  readonly folders: readonly (readonly [folder: string, last: number])[];
  readonly seed: number;
  readonly size: number;
  /** Bytes of each column, and of what finds the paths. */
  readonly columns: readonly number[];
}

class Columns {
  readonly paths = new TextPool();
  readonly flags = flags();
  readonly bases = new HexRows();
  readonly blobs = new HexRows();
  readonly signatureEnds = counts();
  readonly signatures = new Bytes();
  readonly rows: readonly Rows[] = [
    ...this.paths.rows,
    this.flags,
    ...this.bases.rows,
    ...this.blobs.rows,
    this.signatureEnds,
    this.signatures,
  ];

  /** Paths are put folder by folder. */
  put(path: RepoPath, { base, known }: Row): void {
    this.paths.of(path);
    this.flags.push((base === null ? 0 : HAS_BASE) + (known === null ? 0 : HAS_KNOWN));
    this.bases.push(base ?? NO_BLOB);
    this.blobs.push(known?.blob ?? NO_BLOB);
    this.signatures.append(Buffer.from(known?.signature ?? ""));
    this.signatureEnds.push(this.signatures.length);
  }

  base(row: number): BlobId | null {
    return (this.flags.at(row) & HAS_BASE) === 0 ? null : (this.bases.at(row) as BlobId); // put with the brand
  }

  known(row: number): Known | null {
    if ((this.flags.at(row) & HAS_KNOWN) === 0) return null;
    const from = row === 0 ? 0 : this.signatureEnds.at(row - 1);
    const signature = this.signatures.held.toString("utf8", from, this.signatureEnds.at(row));
    return { blob: this.blobs.at(row) as BlobId, signature }; // put with the brand
  }
}

/** Rows by folder: each folder's last number. */
type Folders = ReadonlyMap<string, number>;

function over(columns: Columns, folders: Folders): FrozenRows {
  const { paths } = columns;
  function* numbers(under?: string): Generator<number> {
    let first = 1;
    for (const [folder, last] of folders) {
      if (under === undefined || folder === under || folder.startsWith(`${under}/`))
        for (let number = first; number <= last; number++) yield number;
      first = last + 1;
    }
  }
  // What was put had the brand.
  const pathAt = (number: number) => paths.at(number) as RepoPath;
  return {
    size: paths.size - 1,
    has: (path) => paths.find(path) > 0,
    base(path) {
      const number = paths.find(path);
      return number === 0 ? null : columns.base(number - 1);
    },
    known(path) {
      const number = paths.find(path);
      return number === 0 ? null : columns.known(number - 1);
    },
    *each(under) {
      for (const number of numbers(under))
        yield [pathAt(number), { base: columns.base(number - 1), known: columns.known(number - 1) }];
    },
    *paths(under) {
      for (const number of numbers(under))
        if ((columns.flags.at(number - 1) & HAS_BASE) !== 0) yield pathAt(number);
    },
    *pieces() {
      const { seed, slots, size } = paths.slots;
      const parts = [...columns.rows.map((rows) => rows.bytes(0, rows.length)), slots];
      const line: Line = {
        magic: MAGIC,
        format: FORMAT,
        folders: [...folders],
        seed,
        size,
        columns: parts.map((bytes) => bytes.length),
      };
      let sum = 0;
      for (const bytes of [Buffer.from(`${JSON.stringify(line)}\n`), ...parts])
        for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
          const piece = bytes.subarray(from, from + PIECE_BYTES);
          sum = crc32(piece, sum);
          yield piece;
        }
      yield Buffer.from(checksum(sum));
    },
  };
}

const checksum = (sum: number) => sum.toString(16).padStart(CHECKSUM_BYTES, "0");

export const noRows = (): FrozenRows => over(new Columns(), new Map());

/** Put rows, one a path, into columns; the loop has its turns meanwhile. */
export async function freezeRows(rows: Iterable<readonly [RepoPath, Row]>): Promise<FrozenRows> {
  const turn = slicer();
  const byFolder = new Map<string, (readonly [RepoPath, Row])[]>();
  for (const row of rows) {
    const folder = folderOf(row[0]);
    const own = byFolder.get(folder);
    if (own === undefined) byFolder.set(folder, [row]);
    else own.push(row);
    const pause = turn();
    if (pause) await pause;
  }
  const columns = new Columns();
  const folders = new Map<string, number>();
  for (const [folder, own] of byFolder) {
    for (const [path, row] of own) {
      columns.put(path, row);
      const pause = turn();
      if (pause) await pause;
    }
    folders.set(folder, columns.paths.size - 1);
  }
  return over(columns, folders);
}

/** What `pieces` told; null for anything else, and for what was damaged since. @param bytes  its own from now on */
export function readRows(bytes: Buffer): FrozenRows | null {
  try {
    return rowsOf(bytes);
  } catch (error) {
    // Trigger: members that are missing, lengths that lead nowhere. Outcome: as if it were absent.
    if (error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError)
      return null;
    throw error;
  }
}

function rowsOf(bytes: Buffer): FrozenRows | null {
  const end = bytes.indexOf("\n");
  const stop = bytes.length - CHECKSUM_BYTES;
  if (end < 0 || end >= stop) return null;
  if (bytes.toString("latin1", stop) !== checksum(crc32(bytes.subarray(0, stop)))) return null;
  // Its own, by the checksum; of another format perhaps.
  const line = JSON.parse(bytes.toString("utf8", 0, end)) as Line;
  if (line.magic !== MAGIC || line.format !== FORMAT) return null;
  let at = end + 1;
  // Copies, each where a column can lie.
  const parts = line.columns.map((length) => {
    at += length;
    return new Uint8Array(bytes.subarray(at - length, at));
  });
  const columns = new Columns();
  for (const [i, rows] of columns.rows.entries()) rows.append(parts[i] ?? new Uint8Array(0));
  const slots = parts.at(-1);
  if (at !== stop || slots === undefined || parts.length !== columns.rows.length + 1) return null;
  columns.paths.restored({ seed: line.seed, size: line.size, slots });
  const { size } = columns.flags.length === 0 ? { size: 1 } : columns.paths;
  mustBeLevel(size - 1, [columns.flags, columns.bases, columns.blobs, columns.signatureEnds]);
  columns.signatureEnds.mustRiseTo(columns.signatures.length);
  const folders = new Map(line.folders);
  if (([...folders.values()].at(-1) ?? 0) !== size - 1) return null;
  return over(columns, folders);
}
