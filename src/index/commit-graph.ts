/**
 * Every commit that was folded, and what each left behind at each path: so the state at *any* held commit can
 * be asked for, one path at a time, and a side branch needs no copy of anything.
 * Invariant: what a commit left never changes.
 */
import type { CommitId, RepoPath } from "../domain/note.ts";
import { counts, mustBeLevel, type Rows } from "../lib/held/column.ts";
import type { KeptSlots } from "../lib/held/hash-slots.ts";
import { TextPool } from "../lib/held/text-pool.ts";
import { CommitTable } from "./commit-table.ts";
import type { CommitRecord, Entry } from "./entry.ts";
import { EntryTable, type Texts } from "./entry-table.ts";
import { RequestTable } from "./request-table.ts";

export class CommitGraph {
  readonly texts: Texts = {
    paths: new TextPool(),
    ids: new TextPool(),
    words: new TextPool(),
  };
  readonly entries = new EntryTable(this.texts);
  readonly commits = new CommitTable(this.texts, this.entries);
  readonly requests = new RequestTable(this.texts.ids);
  /** Deltas: at a path, what a commit left there. In order of arrival, so along one chain in order of place. */
  readonly #deltaPaths = counts();
  readonly #deltaCommits = counts();
  /** The entry's number from 1 on; 0: nothing is there. */
  readonly #deltaEntries = counts();
  /** The path's delta before this one, from 1 on; 0: none. */
  readonly #deltaBefore = counts();
  /** By path: its newest delta, from 1 on. */
  readonly #newestDelta = counts();
  /** Places: a path that an id had, as claim or fallback, and the id's place before, from 1 on. */
  readonly #placePaths = counts();
  readonly #placeBefore = counts();
  /** By id: its newest place, from 1 on. */
  readonly #newestPlace = counts();
  /** By chain: the commit that it forks from (from 1 on; 0: none), and its newest. */
  readonly #forks = counts();
  readonly #tips = counts();

  readonly rows: readonly Rows[] = [
    ...this.texts.paths.rows,
    ...this.texts.ids.rows,
    ...this.texts.words.rows,
    ...this.entries.rows,
    ...this.commits.rows,
    ...this.requests.rows,
    this.#deltaPaths,
    this.#deltaCommits,
    this.#deltaEntries,
    this.#deltaBefore,
  ];

  /** What finds texts and commits, in copies. @cost some 10 bytes for each of them */
  get slots(): readonly KeptSlots[] {
    const { paths, ids, words } = this.texts;
    return [paths, ids, words, this.commits].map((table) => table.slots);
  }

  numberOf(id: CommitId): number | undefined {
    const number = this.commits.find(id);
    return number < 0 ? undefined : number;
  }

  /** @throws RangeError  no such commit @cost an object and all its rows: ask `commits` for one field */
  at(number: number): Omit<CommitRecord, "request"> {
    return this.commits.at(number);
  }

  agent(agentId: number, name: string): NonNullable<CommitRecord["agent"]> {
    return this.commits.agent(agentId, name);
  }

  /** Where a commit with this first parent (-1: none) goes: on the parent's chain if it is the first there. */
  place(parent: number): { chain: number; place: number } {
    if (parent >= 0) {
      const chain = this.commits.chainOf(parent);
      if (this.#tips.at(chain) === parent) return { chain, place: this.commits.placeOf(parent) + 1 };
    }
    return { chain: this.#forks.length, place: 0 };
  }

  /** Keep a commit and what it left. Its parents are kept already. */
  add(commit: CommitRecord, left: ReadonlyMap<RepoPath, Entry | null>): number {
    const number = this.commits.length;
    for (const [path, entry] of left) this.#leave(number, path, entry);
    const rows = commit.rows.map(({ action, entry, gone }) => {
      const held = this.entryNumber(entry);
      return { action, gone, entry: held < 0 ? this.entries.push(entry) : held };
    });
    this.#chain(this.commits.push(commit, rows));
    if (commit.request) this.requests.push(number, commit.request);
    return number;
  }

  #chain(commit: number): void {
    const chain = this.commits.chainOf(commit);
    if (chain === this.#forks.length) this.#forks.push(this.commits.parentOf(commit, 0) + 1);
    this.#tips.set(chain, commit);
  }

  #leave(commit: number, path: RepoPath, entry: Entry | null): void {
    const place = this.texts.paths.of(path);
    const held = entry === null || entry.changed === commit ? -1 : this.entryNumber(entry);
    const kept = entry === null ? -1 : held < 0 ? this.entries.push(entry) : held;
    this.#deltaPaths.push(place);
    this.#deltaCommits.push(commit);
    this.#deltaEntries.push(kept + 1);
    this.#link(this.#deltaBefore.push(this.#newestDelta.at(place)));
  }

  /** Make a delta its path's newest. */
  #link(delta: number): void {
    const place = this.#deltaPaths.at(delta);
    const before = this.#deltaBefore.at(delta);
    const kept = this.#deltaEntries.at(delta) - 1;
    const last = before === 0 ? -1 : this.#deltaEntries.at(before - 1) - 1;
    this.#newestDelta.set(place, delta + 1);
    if (kept < 0) return;
    for (const idOf of ["claimOf", "fallbackOf"] as const) {
      const id = this.entries[idOf](kept);
      if (id !== 0 && !(last >= 0 && this.entries[idOf](last) === id)) this.#remember(id, place);
    }
  }

  #remember(id: number, path: number): void {
    const before = this.#newestPlace.at(id);
    if (before > 0 && this.#placePaths.at(before - 1) === path) return;
    this.#placePaths.push(path);
    this.#newestPlace.set(id, this.#placeBefore.push(before) + 1);
  }

  /** The number of an entry that was left at its path and says the same; -1: there is none. */
  entryNumber(entry: Entry): number {
    for (
      let at = this.#newestDelta.at(this.texts.paths.find(entry.path));
      at > 0;
      at = this.#deltaBefore.at(at - 1)
    ) {
      const held = this.#deltaEntries.at(at - 1) - 1;
      if (held >= 0 && this.entries.equals(held, entry)) return held;
    }
    return -1;
  }

  /**
   * The file at a path in the state of a commit (-1: before any).
   * @cost short in practice: looks from the path's newest change backwards, once for each fork in between
   */
  entryAt(commit: number, path: RepoPath): Entry | null {
    const number = this.entryNumberAt(commit, this.texts.paths.find(path));
    return number < 0 ? null : this.entries.at(number);
  }

  /** As `entryAt`, by the path's number and to the entry's; -1: nothing is there. */
  entryNumberAt(commit: number, path: number): number {
    const delta = this.#deltaAt(commit, path);
    return delta < 0 ? -1 : this.#deltaEntries.at(delta) - 1;
  }

  /** As `entryAt`; where nothing is there now, what lay at the path before it was removed. */
  lastAt(commit: number, path: RepoPath): Entry | null {
    const number = this.texts.paths.find(path);
    const delta = this.#deltaAt(commit, number);
    if (delta < 0) return null;
    const kept = this.#deltaEntries.at(delta) - 1;
    if (kept >= 0) return this.entries.at(kept);
    return this.entryAt(this.commits.parentOf(this.#deltaCommits.at(delta), 0), path);
  }

  /** The delta that says what lies at a path's number in the state of a commit; -1: none does. */
  #deltaAt(commit: number, path: number): number {
    const newest = path === 0 ? 0 : this.#newestDelta.at(path);
    if (newest === 0) return -1;
    for (let at = commit; at >= 0; ) {
      const chain = this.commits.chainOf(at);
      const place = this.commits.placeOf(at);
      for (let delta = newest; delta > 0; delta = this.#deltaBefore.at(delta - 1)) {
        const left = this.#deltaCommits.at(delta - 1);
        if (left > at || this.commits.chainOf(left) !== chain || this.commits.placeOf(left) > place) continue;
        return delta - 1;
      }
      at = this.#forks.at(chain) - 1;
    }
    return -1;
  }

  /** What any commit left at a path, newest first; also on commits that the head doesn't reach. */
  *entriesEverAt(path: RepoPath): Generator<Entry> {
    for (
      let at = this.#newestDelta.at(this.texts.paths.find(path));
      at > 0;
      at = this.#deltaBefore.at(at - 1)
    ) {
      const kept = this.#deltaEntries.at(at - 1) - 1;
      if (kept >= 0) yield this.entries.at(kept);
    }
  }

  /** Every path that ever held an id as its claim or fallback; also on commits that the head doesn't reach. */
  pathsEverWith(id: string): readonly RepoPath[] {
    const number = this.texts.ids.find(id);
    const found = new Set<number>();
    for (
      let at = number === 0 ? 0 : this.#newestPlace.at(number);
      at > 0;
      at = this.#placeBefore.at(at - 1)
    ) {
      found.add(this.#placePaths.at(at - 1));
    }
    // Brands: what was left had them.
    return [...found].map((path) => this.texts.paths.at(path) as RepoPath);
  }

  /** Commits from `to` back along first parents to `from`, newest first; null when `from` is not met. */
  chain(from: number, to: number): number[] | null {
    const found: number[] = [];
    for (let at = to; at !== from; at = this.commits.parentOf(at, 0)) {
      if (at < 0) return null;
      found.push(at);
    }
    return found;
  }

  /**
   * Rows were appended: find again what they stand for.
   * @param agents  `commits.agents` of that time
   * @param forgotten  `requests.first` of that time
   * @param slots  `slots` of that time or an earlier one; none: everything is hashed again
   * @throws RangeError  no graph has such rows
   */
  restored(agents: CommitTable["agents"], forgotten: number, slots: readonly KeptSlots[]): void {
    const [paths, ids, words, commits] = slots;
    this.texts.paths.restored(paths);
    this.texts.ids.restored(ids);
    this.texts.words.restored(words);
    this.commits.restored(agents, commits);
    this.requests.restored(this.commits.length, forgotten);
    this.entries.restored(this.commits.length);
    const deltas = this.#deltaPaths.length;
    mustBeLevel(deltas, [this.#deltaCommits, this.#deltaEntries, this.#deltaBefore]);
    this.#deltaPaths.mustBeBelow(this.texts.paths.size);
    this.#deltaCommits.mustBeBelow(this.commits.length);
    this.#deltaEntries.mustBeBelow(this.entries.length + 1);
    this.#newestDelta.reserve(this.texts.paths.size);
    this.#newestPlace.reserve(this.texts.ids.size);
    for (const column of [this.#placePaths, this.#placeBefore]) column.reserve(this.texts.ids.size);
    for (let delta = 0; delta < deltas; delta++) {
      if (this.#deltaBefore.at(delta) > delta) throw new RangeError(`delta ${delta} comes before itself`);
      this.#link(delta);
    }
    for (let commit = 0; commit < this.commits.length; commit++) {
      if (this.commits.chainOf(commit) > this.#forks.length) throw new RangeError(`${commit} is on no chain`);
      this.#chain(commit);
    }
  }
}
