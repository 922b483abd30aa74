/**
 * The record of observed heads: how the branch moved, in order, so that a client's cursor resumes exactly.
 * In memory a list of contiguous moves, on disk `heads-file.ts`. What a move means to subscribers is the feed's.
 * One caller at a time (the feed's queue). Invariant: a move by others is durable before anyone can see it; moves of our own are written lazily, since
 * a commit of ours between recorded heads is found again on the branch (`observe-tip.ts`).
 */

import type { CommitId } from "../../domain/note.ts";
import type { Warn } from "../../lib/bus.ts";
import type { Clock } from "../../lib/clock.ts";
import { HeadsFile } from "./heads-file.ts";

export type Via = "live" | "sync" | "push";

/** One step of the branch. `own`: a chain of our single-parent commits; `other`: anything else. */
export interface Move {
  /** Number of the move; rises by one, never used again. */
  readonly n: number;
  readonly from: CommitId | null;
  readonly to: CommitId;
  readonly kind: "own" | "other";
  readonly via: Via;
  /** When it was observed, ISO 8601. */
  readonly at: string;
  /** The branch was at `to` before, so the bare commit id does not name this place. */
  readonly again: boolean;
  /** `to` does not descend from `from`: a reset, a rewritten history, another branch. */
  readonly back: boolean;
}

/** Between moves, or inside an own move after one of its commits: everything up to `commit` is done. */
export interface Place {
  readonly n: number;
  readonly commit: CommitId | null;
}

interface HeadsOptions {
  /** `<gitdir>/notesd/heads`; made when absent. */
  readonly file: string;
  readonly clock: Clock;
  readonly warn: Warn;
  /** Moves kept; older cursors then get a squashed difference. Default 10,000. */
  readonly maxMoves?: number;
  /** Longest time that a move of our own stays unwritten. Default 2,000. */
  readonly writeDelayMs?: number;
}

export class Heads {
  readonly #file: HeadsFile;
  readonly #options: HeadsOptions;
  readonly #maxMoves: number;
  #base: Place;
  #moves: Move[];
  /** First visits only: commit → number of the move that ends there. */
  readonly #first = new Map<CommitId | null, number>();
  /** The last move is longer than what the file says. */
  #unwritten = false;
  #cancelTimer: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: HeadsOptions, file: HeadsFile) {
    this.#options = options;
    this.#file = file;
    this.#maxMoves = options.maxMoves ?? 10_000;
    this.#base = { n: file.base?.n ?? 0, commit: file.base?.to ?? null };
    this.#moves = [...file.takeMoves()];
    this.#index();
  }

  /** Read the record; a torn tail is cut off. `known` is false when there was no record yet. */
  static async open(options: HeadsOptions): Promise<Heads> {
    return new Heads(options, await HeadsFile.open(options.file, options.warn));
  }

  /** False until `restart` was called once for this file. */
  get known(): boolean {
    return this.#file.base !== null;
  }
  get head(): CommitId | null {
    return this.#moves.at(-1)?.to ?? this.#base.commit;
  }
  /** The place at the head. */
  get end(): Place {
    return { n: this.#moves.at(-1)?.n ?? this.#base.n, commit: this.head };
  }
  /** The oldest place that is still recorded. */
  get start(): Place {
    return this.#base;
  }
  get moves(): readonly Move[] {
    return this.#moves;
  }
  move(n: number): Move | null {
    return this.#moves[n - this.#base.n - 1] ?? null;
  }
  /** Number of the move whose end the bare id of this commit names. */
  firstVisit(commit: CommitId | null): number | null {
    return this.#first.get(commit) ?? null;
  }

  /** Forget every move and begin at `head`: a new file, or a history that no longer holds the old heads. */
  async restart(head: CommitId | null): Promise<void> {
    const n = this.known ? this.end.n + 1 : 0;
    this.#base = { n, commit: head };
    this.#moves = [];
    this.#index();
    await this.#serially(() => this.#file.rewrite({ n, to: head }, []));
  }

  /** Record a chain of our own commits. Visible at once, on disk within `writeDelayMs`. @param seen as for `other` */
  own(to: CommitId, seen = { again: false }): Move {
    const last = this.#moves.at(-1);
    const again = seen.again || this.#first.has(to);
    if (last?.kind !== "own" || last.again || again) {
      const move = this.#next(to, "own", "live", { back: false, again });
      this.#add(move);
      this.#laterWrite();
      return move;
    }
    const longer = { ...last, to };
    this.#moves[this.#moves.length - 1] = longer;
    this.#first.delete(last.to);
    this.#first.set(to, last.n);
    this.#laterWrite();
    return longer;
  }

  /**
   * Record any other move. It is visible once it is durable; when the disk refuses, the log says so and the
   * move is visible all the same, since the branch has moved: a crash then costs exactness, not changes.
   * @param seen `again`: `to` has a place already inside an own move, which only the feed can tell
   */
  async other(to: CommitId, via: Via, { back = false, again = false } = {}): Promise<Move> {
    const move = this.#next(to, "other", via, { back, again });
    await this.#serially(() => this.#write([move], true));
    this.#add(move);
    if (this.#moves.length > this.#maxMoves) await this.#compact();
    return move;
  }

  /** Write what is only in memory. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#serially(async () => {
      await this.#write([], false);
      if (this.#file.lines > 2 * this.#moves.length + 1_000) await this.#rewrite();
    });
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#writing;
    this.#file.close();
  }

  #next(to: CommitId, kind: Move["kind"], via: Via, seen: { back: boolean; again: boolean }): Move {
    const at = new Date(this.#options.clock.now()).toISOString();
    const again = seen.again || this.#first.has(to);
    return { n: this.end.n + 1, from: this.head, to, kind, via, at, again, back: seen.back };
  }

  #add(move: Move): void {
    this.#moves.push(move);
    if (!move.again) this.#first.set(move.to, move.n);
  }

  #index(): void {
    this.#first.clear();
    this.#first.set(this.#base.commit, this.#base.n);
    for (const move of this.#moves) if (!move.again) this.#first.set(move.to, move.n);
  }

  async #write(moves: readonly Move[], durable: boolean): Promise<void> {
    const last = this.#moves.at(-1);
    const lines = this.#unwritten && last ? [last, ...moves] : moves;
    this.#unwritten = false;
    if (this.#file.broken) return this.#rewrite(moves);
    if (lines.length > 0) await this.#file.append(lines, durable);
  }

  #laterWrite(): void {
    this.#unwritten = true;
    this.#cancelTimer ??= this.#options.clock.after(this.#options.writeDelayMs ?? 2_000, () => {
      this.#cancelTimer = null;
      void this.flush();
    });
  }

  async #compact(): Promise<void> {
    const dropped = this.#moves.splice(0, this.#moves.length - Math.ceil(this.#maxMoves / 2));
    const last = dropped.at(-1);
    if (last) this.#base = { n: last.n, commit: last.to };
    this.#index();
    await this.#serially(() => this.#rewrite());
  }

  #rewrite(moves: readonly Move[] = []): Promise<void> {
    return this.#file.rewrite({ n: this.#base.n, to: this.#base.commit }, [...this.#moves, ...moves]);
  }

  /** One disk operation at a time; a failure is logged here and the file is written whole next time. */
  #serially(write: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(write).catch((error: unknown) => {
      this.#options.warn("the record of heads could not be written", {
        trigger: this.#options.file,
        why: error instanceof Error ? error.message : String(error),
        outcome:
          "cursors stay exact while this process lives; the whole record is written at the next change",
      });
    });
    return this.#writing;
  }
}
