/**
 * The log as subscribers see it: from any position, the batch that comes next. Positions are between batches
 * or inside one; cursors are their text.
 * Invariant: reading changes nothing, and two readers at one position read the same.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { NoteStore } from "../../store/note-store.ts";
import { type BatchSource, commitItems, differenceItems, type Item, type Told } from "./batch.ts";
import { BatchCache } from "./batch-cache.ts";
import { type Cursor, formatCursor } from "./cursor.ts";
import type { Heads, Move, Place } from "./heads.ts";
import { OwnChain } from "./own-chain.ts";

/** `skip` items of the next batch are done. A squash is a difference from an unrecorded ancestor. */
export type Position =
  | { readonly kind: "log"; readonly place: Place; readonly skip: number }
  | {
      readonly kind: "squash";
      readonly from: CommitId | null;
      readonly target: Place;
      readonly skip: number;
    };

export interface Batch {
  readonly items: readonly Item[];
  /** Where one stands after all of it. */
  readonly end: Place;
}

export interface LogSource extends BatchSource {
  readonly store: BatchSource["store"] & Pick<NoteStore, "isAncestor">;
  readonly index: BatchSource["index"] & Pick<NoteIndex, "holds">;
  readonly heads: Heads;
  readonly memory?: LogMemory;
}

/** What a log keeps at hand; anything else is read again. */
export interface LogMemory {
  /** Own commits and what follows each, about 200 B a commit. Default 16,384. */
  readonly commits: number;
  /** Notes in batches, about 1 kB each. Default 4,096. */
  readonly items: number;
}

/** Own commits read from history at a time. */
const STRETCH_COMMITS = 64;

export class LogReader {
  readonly #source: LogSource;
  readonly #chain: OwnChain;
  readonly #cache: BatchCache;

  constructor(source: LogSource) {
    const { commits, items } = source.memory ?? { commits: 16_384, items: 4_096 };
    this.#source = source;
    this.#chain = new OwnChain(source.store, commits);
    this.#cache = new BatchCache(items);
  }

  /** The position at the head. */
  end(): Position {
    return { kind: "log", place: this.#source.heads.end, skip: 0 };
  }

  atEnd(position: Position): boolean {
    const { n, commit } = this.#source.heads.end;
    return position.kind === "log" && position.place.n === n && position.place.commit === commit;
  }

  /** False when the record no longer reaches back to a position. */
  isKept(position: Position): boolean {
    const place = position.kind === "log" ? position.place : position.target;
    return place.n >= this.#source.heads.start.n;
  }

  /** The text that a client gets for a position. */
  cursor(position: Position): string {
    if (position.kind === "log") return formatCursor({ ...this.#named(position.place), skip: position.skip });
    return formatCursor({
      squashedFrom: position.from,
      ...this.#named(position.target),
      skip: position.skip,
    });
  }

  /** @throws NotesError UNKNOWN_COMMIT not in the log and no ancestor of the head; `data.resync_from` is the head */
  async locate(cursor: Cursor): Promise<Position> {
    try {
      return await this.#locate(cursor);
    } catch (error) {
      throw this.#named410(error, cursor.commit);
    }
  }

  async #locate(cursor: Cursor): Promise<Position> {
    const place = await this.#placeOf(cursor.commit, cursor.n);
    if (cursor.squashedFrom !== undefined) {
      if (!place) return this.#squash(cursor.squashedFrom);
      const position = await this.#squash(cursor.squashedFrom);
      return { ...position, kind: "squash", from: cursor.squashedFrom, target: place, skip: cursor.skip };
    }
    if (!place) return this.#squash(cursor.commit);
    const position: Position = { kind: "log", place, skip: cursor.skip };
    if (cursor.skip > 0 && this.atEnd(position)) throw this.#unknown(cursor.commit);
    return position;
  }

  /**
   * The batch after a position (its first `skip` items included), or null at the head.
   * @throws NotesError UNKNOWN_COMMIT that part of the log is gone
   */
  async next(position: Position): Promise<Batch | null> {
    try {
      return await this.#next(position);
    } catch (error) {
      throw this.#named410(error, position.kind === "log" ? position.place.commit : position.from);
    }
  }

  #next(position: Position): Promise<Batch | null> {
    if (position.kind === "squash") {
      const { from, target } = position;
      return this.#cache.get(`${from ?? ""}..${target.n} ${target.commit}`, async () => {
        if (target.commit === null) return null;
        return { items: await this.#difference(from, target.commit, "live"), end: target };
      });
    }
    const { place } = position;
    if (this.atEnd(position)) return Promise.resolve(null);
    return this.#cache.get(key(place), () => this.#load(place));
  }

  /** Own commits that were just made, with what the index told of each; `after` is where move n stood. */
  learn(n: number, after: CommitId | null, commits: readonly CommitEvents[], told: Told[] | null): void {
    this.#chain.remember(
      n,
      after,
      commits.map(({ commit }) => commit.id),
    );
    if (told === null) return;
    let at: Place = { n, commit: after };
    for (const [i, events] of commits.entries()) {
      const end: Place = { n, commit: events.commit.id };
      this.#cache.put(key(at), { items: commitItems(this.#source, events, told[i] ?? null), end });
      at = end;
    }
  }

  /** As `has`, of recent commits of ours only, at no cost. */
  remembers(commit: CommitId): boolean {
    return this.#chain.recent(commit) !== null;
  }

  /** Whether a commit has a place in the log that can still be read. */
  async has(commit: CommitId): Promise<boolean> {
    return orGone(async () => (await this.#placeOf(commit, null)) !== null);
  }

  /** As `OwnChain.broughtBy`. */
  broughtBy(commit: CommitId): Promise<Move | null> {
    return this.#chain.broughtBy(this.#source.heads, commit);
  }

  /** Whether a move from the head to a commit does not go forward. */
  async isBack(to: CommitId): Promise<boolean> {
    const { heads, store } = this.#source;
    const { head } = heads;
    return head !== null && !(await orGone(() => store.isAncestor(head, to)));
  }

  async #load(place: Place): Promise<Batch | null> {
    const { heads } = this.#source;
    if (place.n < heads.start.n) throw this.#unknown(place.commit);
    const inside = heads.move(place.n);
    const move = inside?.kind === "own" && inside.to !== place.commit ? inside : heads.move(place.n + 1);
    if (!move) return null;
    if (move.kind === "own") return this.#ownBatch(move, place);
    const items = await this.#difference(move.from, move.to, move.via);
    return { items, end: { n: move.n, commit: move.to } };
  }

  async #ownBatch(move: Move, place: Place): Promise<Batch | null> {
    const ids = await this.#chain.after(move, place.commit, STRETCH_COMMITS);
    const last = ids.at(-1);
    if (last === undefined) return null;
    const batches: Batch[] = [];
    for await (const events of this.#source.store.history(place.commit, last)) {
      this.#mustHold(events.commit.id);
      batches.push({
        items: commitItems(this.#source, events, null),
        end: { n: move.n, commit: events.commit.id },
      });
    }
    for (const [i, batch] of batches.entries()) {
      const before = batches[i - 1];
      if (before) this.#cache.put(key(before.end), batch);
    }
    return batches[0] ?? null;
  }

  #difference(from: CommitId | null, to: CommitId, via: Move["via"]): Promise<Item[]> {
    if (from) this.#mustHold(from);
    this.#mustHold(to);
    return differenceItems(this.#source, from, to, via);
  }

  /** Whose note a file is can't be told of a commit that the index does not hold. */
  #mustHold(commit: CommitId): void {
    if (!this.#source.index.holds(commit)) throw this.#unknown(commit);
  }

  async #placeOf(commit: CommitId | null, n: number | null): Promise<Place | null> {
    const { heads } = this.#source;
    if (n === null) {
      const found = heads.firstVisit(commit) ?? (commit && (await this.#chain.find(heads, commit)));
      return found === null ? null : { n: found, commit };
    }
    if (n === heads.start.n && commit === heads.start.commit) return { n, commit };
    const move = heads.move(n);
    if (!move || commit === null) return null;
    return move.to === commit || (await this.#chain.contains(move, commit)) ? { n, commit } : null;
  }

  async #squash(from: CommitId | null): Promise<Position> {
    const target = this.#source.heads.end;
    const { isAncestor } = this.#source.store;
    const known = from === null || (target.commit && (await isAncestor(from, target.commit)));
    if (!known) throw this.#unknown(from);
    return { kind: "squash", from, target, skip: 0 };
  }

  /** The store's own "no such object" says nothing of how to go on; ours does. */
  #named410(error: unknown, commit: CommitId | null): unknown {
    const foreign = error instanceof NotesError && error.code === "UNKNOWN_COMMIT" && !error.data.resync_from;
    return foreign ? this.#unknown(commit) : error;
  }

  #unknown(commit: CommitId | null): NotesError {
    const resync = this.cursor(this.end());
    return new NotesError(
      "UNKNOWN_COMMIT",
      `Changes can't be told from ${commit ?? "there"}: it is no commit that this branch came from. ` +
        "Read the notes you need again, then go on from resync_from.",
      { resync_from: resync },
    );
  }

  /** A bare id where that names this very place. */
  #named({ n, commit }: Place): { commit: CommitId | null; n: number | null } {
    const { heads } = this.#source;
    const move = heads.move(n);
    if (move?.to === commit) return { commit, n: move.again ? n : null };
    const other = heads.firstVisit(commit) ?? (commit && this.#chain.recent(commit));
    return { commit, n: other === null || other === n ? null : n };
  }
}

/** False where a commit is gone from the repository (a purge). */
async function orGone(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return false;
    throw error;
  }
}

const key = ({ n, commit }: Place) => `${n} ${commit ?? ""}`;
