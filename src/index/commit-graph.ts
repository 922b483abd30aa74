/**
 * Every commit that was folded, and what each left behind at each path: so the state at *any* held commit can
 * be asked for, one path at a time, and a side branch needs no copy of anything.
 * Invariant: what a commit left never changes. Only `order` follows the head.
 */
import type { CommitId, RepoPath } from "../domain/note.ts";
import type { CommitRecord, Entry } from "./entry.ts";
import { itemsOf, type OneOrMany, pushTo } from "./one-or-many.ts";

/** At a path, what a commit left there (null: nothing). */
interface Delta {
  readonly commit: number;
  readonly entry: Entry | null;
}

export class CommitGraph {
  readonly commits: CommitRecord[] = [];
  readonly #numbers = new Map<CommitId, number>();
  /** In order of arrival, so along one chain in order of place. */
  readonly #deltas = new Map<RepoPath, OneOrMany<Delta>>();
  /** The commit that each chain forks from; -1: none. */
  readonly #forks: number[] = [];
  /** The newest commit of each chain. */
  readonly #tips: number[] = [];
  readonly #agents = new Map<string, NonNullable<CommitRecord["agent"]>>();
  /** Paths that ever held an id, as claim or fallback. */
  readonly #pathsOfId = new Map<string, RepoPath | Set<RepoPath>>();

  numberOf(id: CommitId): number | undefined {
    return this.#numbers.get(id);
  }

  at(number: number): CommitRecord {
    const commit = this.commits[number];
    if (commit === undefined) throw new RangeError(`no commit number ${number}`);
    return commit;
  }

  /** One object for each agent, whoever acted how often. */
  agent(agentId: number, name: string): NonNullable<CommitRecord["agent"]> {
    const key = `${agentId} ${name}`;
    const known = this.#agents.get(key);
    if (known) return known;
    const agent = { agentId, name };
    this.#agents.set(key, agent);
    return agent;
  }

  /** Where a commit with this first parent (-1: none) goes: on the parent's chain if it is the first there. */
  place(parent: number): { chain: number; place: number } {
    if (parent >= 0) {
      const { chain, place } = this.at(parent);
      if (this.#tips[chain] === parent) return { chain, place: place + 1 };
    }
    return { chain: this.#forks.length, place: 0 };
  }

  /** Keep a commit and what it left. Its parents are kept already. */
  add(commit: CommitRecord, left: ReadonlyMap<RepoPath, Entry | null>): number {
    const number = this.commits.push(commit) - 1;
    this.#numbers.set(commit.id, number);
    if (commit.chain === this.#forks.length) this.#forks.push(commit.parents[0] ?? -1);
    this.#tips[commit.chain] = number;
    for (const [path, entry] of left) {
      pushTo(this.#deltas, path, { commit: number, entry });
      if (entry?.brief.claim) this.#remember(entry.brief.claim, path);
      if (entry?.fallback) this.#remember(entry.fallback, path);
    }
    return number;
  }

  #remember(id: string, path: RepoPath): void {
    const known = this.#pathsOfId.get(id);
    if (known === undefined) this.#pathsOfId.set(id, path);
    else if (known instanceof Set) known.add(path);
    else if (known !== path) this.#pathsOfId.set(id, new Set([known, path]));
  }

  /**
   * The file at a path in the state of a commit (-1: before any).
   * @cost short in practice: looks from the path's newest change backwards, once for each fork in between
   */
  entryAt(commit: number, path: RepoPath): Entry | null {
    const deltas = itemsOf(this.#deltas.get(path));
    if (deltas.length === 0) return null;
    for (let at = commit; at >= 0; ) {
      const { chain, place } = this.at(at);
      for (let i = deltas.length - 1; i >= 0; i--) {
        const delta = deltas[i];
        if (delta === undefined || delta.commit > at) continue;
        const left = this.at(delta.commit);
        if (left.chain === chain && left.place <= place) return delta.entry;
      }
      at = this.#forks[chain] ?? -1;
    }
    return null;
  }

  /** Every path that ever held an id as its claim or fallback; also on commits that the head doesn't reach. */
  pathsEverWith(id: string): Iterable<RepoPath> {
    const known = this.#pathsOfId.get(id);
    if (known === undefined) return [];
    return known instanceof Set ? known : [known];
  }

  /** What each commit left at a path, by path and in order of arrival. */
  *everyDelta(): Generator<{ readonly path: RepoPath } & Delta> {
    for (const [path, deltas] of this.#deltas) {
      for (const delta of itemsOf(deltas)) yield { path, ...delta };
    }
  }

  everyPath(): Iterable<RepoPath> {
    return this.#deltas.keys();
  }

  /** Commits from `to` back along first parents to `from`, newest first; null when `from` is not met. */
  chain(from: number, to: number): number[] | null {
    const found: number[] = [];
    for (let at = to; at !== from; at = this.at(at).parents[0] ?? -1) {
      if (at < 0) return null;
      found.push(at);
    }
    return found;
  }
}
