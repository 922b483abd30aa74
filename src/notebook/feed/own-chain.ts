/**
 * Which commits lie on our own chains, and what comes after each: the inside of a move of kind `own`.
 * Recent commits are remembered as they are made, older ones are found again in the store, a stretch at a time.
 * Invariant: only a cache; the store and the recorded heads say the truth.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { Heads, Move } from "./heads.ts";

export class OwnChain {
  readonly #store: Pick<NoteStore, "history" | "isAncestor">;
  /** Number of the move that a commit was made in. */
  readonly #madeIn = new Map<CommitId, number>();
  /** `<n> <commit>` → the commit after it in move n. */
  readonly #next = new Map<string, CommitId>();
  readonly #max: number;

  constructor(store: Pick<NoteStore, "history" | "isAncestor">, maxRemembered: number) {
    this.#store = store;
    this.#max = maxRemembered;
  }

  /** Commits that were just added at the end of move n, oldest first; `after` is where the move stood. */
  remember(n: number, after: CommitId | null, commits: readonly CommitId[]): void {
    let at = after;
    for (const commit of commits) {
      this.#next.set(key(n, at), commit);
      this.#madeIn.set(commit, n);
      at = commit;
    }
    trim(this.#next, this.#max);
    trim(this.#madeIn, this.#max);
  }

  /** The move of a remembered commit. */
  recent(commit: CommitId): number | null {
    return this.#madeIn.get(commit) ?? null;
  }

  /**
   * The commits after `after` up to the end of move n, at most `limit`, oldest first.
   * @throws NotesError UNKNOWN_COMMIT the repository has lost that stretch
   * @cost remembered: none; else a walk from the move's end to `after`, once for each stretch
   */
  async after(move: Move, after: CommitId | null, limit: number): Promise<CommitId[]> {
    if (after === move.to) return [];
    const known = this.#follow(move, after, limit);
    if (known.length > 0) return known;
    const found: CommitId[] = [];
    for await (const { commit } of this.#store.history(after, move.to)) {
      if ((commit.parents[0] ?? null) !== (found.at(-1) ?? after)) break;
      found.push(commit.id);
      if (found.length >= this.#max / 2) break;
    }
    if (found.length === 0) {
      throw new NotesError("UNKNOWN_COMMIT", `The commits after ${after} are no longer one chain.`);
    }
    this.remember(move.n, after, found);
    return found.slice(0, limit);
  }

  /** The move that a commit lies in, as one of its chain. @cost walks, logarithmic in the number of moves */
  async find(heads: Heads, commit: CommitId): Promise<number | null> {
    const recent = this.recent(commit);
    if (recent !== null && heads.move(recent)) return recent;
    for (const stretch of risingStretches(heads.moves)) {
      const move = await this.#findIn(stretch, commit);
      if (move) return move.n;
    }
    return null;
  }

  /** Whether a commit lies on the chain of an own move. */
  async contains(move: Move, commit: CommitId): Promise<boolean> {
    if (move.kind !== "own" || commit === move.from) return false;
    const { isAncestor } = this.#store;
    if (!(await isAncestor(commit, move.to))) return false;
    return move.from === null || (await isAncestor(move.from, commit));
  }

  /**
   * The recorded move that brought a commit to the branch; null: none did, the branch had it before.
   * @cost as `find`
   */
  async broughtBy(heads: Heads, commit: CommitId): Promise<Move | null> {
    const recent = this.recent(commit);
    const made = recent === null ? null : heads.move(recent);
    if (made !== null) return made;
    for (const stretch of risingStretches(heads.moves)) {
      const move = await this.#firstWith(stretch, commit);
      if (move === null) continue;
      // A stretch may begin with a head that had it: then an earlier one brought it.
      if (move.from === null || !(await this.#store.isAncestor(commit, move.from))) return move;
    }
    return null;
  }

  #follow(move: Move, after: CommitId | null, limit: number): CommitId[] {
    const found: CommitId[] = [];
    for (let at = after; at !== move.to && found.length < limit; ) {
      const next = this.#next.get(key(move.n, at));
      if (next === undefined) break;
      found.push(next);
      at = next;
    }
    return found;
  }

  /** Heads of a stretch descend from each other: the first one that has the commit ends its move. */
  async #findIn(stretch: readonly Move[], commit: CommitId): Promise<Move | null> {
    const move = await this.#firstWith(stretch, commit);
    return move && (await this.contains(move, commit)) ? move : null;
  }

  async #firstWith(stretch: readonly Move[], commit: CommitId): Promise<Move | null> {
    const last = stretch.at(-1);
    if (!last || !(await this.#store.isAncestor(commit, last.to))) return null;
    let [low, high] = [0, stretch.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const head = stretch[middle];
      if (head && (await this.#store.isAncestor(commit, head.to))) high = middle;
      else low = middle + 1;
    }
    return stretch[low] ?? null;
  }
}

/** Newest first: runs of moves in which each head descends from the one before. */
function risingStretches(moves: readonly Move[]): Move[][] {
  const stretches: Move[][] = [];
  for (const move of moves) {
    const current = stretches.at(-1);
    if (current && !move.back) current.push(move);
    else stretches.push([move]);
  }
  return stretches.reverse();
}

const key = (n: number, commit: CommitId | null) => `${n} ${commit ?? ""}`;

function trim(map: Map<unknown, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    if (map.size <= max * 0.75) break;
    map.delete(oldest);
  }
}
