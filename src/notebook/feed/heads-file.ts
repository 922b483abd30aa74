/**
 * The file of `heads.ts`: JSON lines, the base first, each later line a move; a line with the number of the
 * line before it replaces that one (an own chain that grew). Appended in place, rewritten whole to compact it.
 * Invariant: what is read is a contiguous list; from the first line that breaks it on, nothing is believed.
 */
import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { type CommitId, CommitIdText } from "../../domain/note.ts";
import type { Warn } from "../../lib/bus.ts";
import { orAbsent, writeAllSync, writeDurably } from "../../lib/durable-file.ts";
import { jsonOrNull } from "../../lib/json-text.ts";
import type { Move } from "./heads.ts";

const BaseLine = z.strictObject({
  format: z.literal(1),
  n: z.number().int().min(0),
  to: CommitIdText.nullable(),
});
const MoveLine = z.strictObject({
  n: z.number().int().min(1),
  from: CommitIdText.nullable(),
  to: CommitIdText,
  kind: z.enum(["own", "other"]),
  via: z.enum(["live", "sync", "push"]),
  at: z.string(),
  again: z.boolean(),
  back: z.boolean(),
});

export interface Base {
  readonly n: number;
  readonly to: CommitId | null;
}

interface Parsed {
  readonly base: Base | null;
  readonly moves: readonly Move[];
  readonly lines: number;
  /** Bytes that were understood. */
  readonly bytes: number;
}

export class HeadsFile {
  readonly #file: string;
  #fd: number | null = null;
  #broken = false;
  #base: Base | null;
  #moves: readonly Move[];
  #lines: number;

  private constructor(file: string, parsed: Parsed) {
    this.#file = file;
    this.#base = parsed.base;
    this.#moves = parsed.moves;
    this.#lines = parsed.lines;
  }

  /** Read the file, cut off a torn tail, and keep it open for appending. */
  static async open(file: string, warn: Warn): Promise<HeadsFile> {
    await mkdir(dirname(file), { recursive: true });
    const bytes = orAbsent(() => readFileSync(file));
    const parsed = parse(bytes ?? Buffer.alloc(0));
    const heads = new HeadsFile(file, parsed);
    if (bytes && parsed.bytes < bytes.length) {
      warn("the record of heads ends in a line that can't be read", {
        trigger: file,
        why: `${bytes.length - parsed.bytes} bytes after line ${parsed.lines}`,
        outcome: "they were cut off; the heads before them are used",
      });
      const fd = openSync(file, "r+");
      ftruncateSync(fd, parsed.bytes);
      closeSync(fd);
    }
    return heads;
  }

  get base(): Base | null {
    return this.#base;
  }
  /** The moves read at `open`, handed over once: the caller's list goes on from there. */
  takeMoves(): readonly Move[] {
    const moves = this.#moves;
    this.#moves = [];
    return moves;
  }
  /** A write failed and may have left half a line: only `rewrite` may follow. */
  get broken(): boolean {
    return this.#broken;
  }
  get lines(): number {
    return this.#lines;
  }

  /** Add lines. @param durable wait for the disk. @throws Node errors; the file is then `broken` */
  async append(moves: readonly Move[], durable: boolean): Promise<void> {
    try {
      this.#fd ??= openSync(this.#file, "a");
      writeAllSync(this.#fd, moves.map((move) => `${JSON.stringify(move)}\n`).join(""));
      this.#lines += moves.length;
      if (durable) await syncData(this.#fd);
    } catch (error) {
      this.#broken = true;
      throw error;
    }
  }

  /** Replace the file, atomically and durably. @throws Node errors; the old file stands */
  async rewrite(base: Base, moves: readonly Move[]): Promise<void> {
    this.#base = base;
    this.#broken = true;
    const lines = [{ format: 1, ...base }, ...moves].map((line) => `${JSON.stringify(line)}\n`);
    await writeDurably(this.#file, lines.join(""));
    this.close();
    this.#lines = lines.length;
    this.#broken = false;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function syncData(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())));
}

function parse(bytes: Buffer): Parsed {
  let base: Base | null = null;
  const moves: Move[] = [];
  let lines = 0;
  let at = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, at)) {
    const value = jsonOrNull(bytes.toString("utf8", at, end));
    if (base === null) {
      const line = BaseLine.safeParse(value);
      if (!line.success) break;
      base = { n: line.data.n, to: line.data.to };
    } else {
      const line = MoveLine.safeParse(value);
      if (!line.success || !follows(base, moves, line.data)) break;
      moves.push(line.data);
    }
    lines++;
    at = end + 1;
  }
  return { base, moves, lines, bytes: at };
}

/** Whether a line goes on where the list ends; drops the shorter form that it replaces. */
function follows(base: Base, moves: Move[], move: Move): boolean {
  const last = moves.at(-1);
  if (last && last.n === move.n && last.from === move.from && last.kind === "own" && move.kind === "own") {
    moves.pop();
    return true;
  }
  return move.n === (last?.n ?? base.n) + 1 && move.from === (last ? last.to : base.to);
}
