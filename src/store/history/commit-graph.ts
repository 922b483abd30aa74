/**
 * Questions about ancestry, answered from parents alone. Dates only decide what is looked at first, so that
 * the usual question touches the newest commits; no answer depends on a clock.
 */
import type { CommitId } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";

interface GraphCommit {
  readonly parents: readonly CommitId[];
  /** Committer date, seconds: a hint for the order of looking. */
  readonly committedS: number;
}

/** @throws NotesError UNKNOWN_COMMIT */
type ReadGraph<T extends GraphCommit = GraphCommit> = (id: CommitId) => T;

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;

/** A max-heap of commits by committer date. */
class Queue {
  readonly #items: { id: CommitId; at: number }[] = [];

  get size(): number {
    return this.#items.length;
  }

  *ids(): Generator<CommitId> {
    for (const { id } of this.#items) yield id;
  }

  push(id: CommitId, at: number): void {
    const items = this.#items;
    let i = items.push({ id, at }) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      const [a, b] = [items[i], items[up]];
      if (a === undefined || b === undefined || a.at <= b.at) break;
      items[i] = b;
      items[up] = a;
      i = up;
    }
  }

  pop(): CommitId | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return undefined;
    if (items.length === 0) return top.id;
    items[0] = last;
    for (let i = 0; ; ) {
      let best = i;
      for (const kid of [2 * i + 1, 2 * i + 2]) {
        if ((items[kid]?.at ?? -Infinity) > (items[best]?.at ?? -Infinity)) best = kid;
      }
      const [a, b] = [items[i], items[best]];
      if (best === i || a === undefined || b === undefined) return top.id;
      items[i] = b;
      items[best] = a;
      i = best;
    }
  }
}

/** Marks spread from two sets of commits to their ancestors. */
class Painting<T extends GraphCommit> {
  readonly marks = new Map<CommitId, number>();
  readonly commits = new Map<CommitId, T>();
  readonly #queue = new Queue();
  readonly #queued = new Set<CommitId>();
  readonly #read: ReadGraph<T>;
  readonly #turn = slicer();
  /** Queued commits that don't yet bear both marks. */
  #open = 0;

  constructor(read: ReadGraph<T>) {
    this.#read = read;
  }

  get open(): boolean {
    return this.#open > 0;
  }

  /** Commits whose parents don't bear their marks yet. */
  get frontier(): CommitId[] {
    return [...this.#queue.ids()];
  }

  mark(id: CommitId, mark: number): void {
    const before = this.marks.get(id) ?? 0;
    const after = before | mark;
    if (after === before) return;
    let commit = this.commits.get(id);
    if (commit === undefined) {
      commit = this.#read(id);
      this.commits.set(id, commit);
    }
    this.marks.set(id, after);
    if (this.#queued.has(id)) {
      if (after === BOTH) this.#open--;
      return;
    }
    this.#queued.add(id);
    this.#queue.push(id, commit.committedS);
    if (after !== BOTH) this.#open++;
  }

  /** Go on while a condition holds, giving the loop its turns. */
  async spread(more: () => boolean): Promise<void> {
    while (more()) {
      const id = this.#queue.pop();
      if (id === undefined) return;
      this.#queued.delete(id);
      const mark = this.marks.get(id) ?? 0;
      if (mark !== BOTH) this.#open--;
      for (const parent of this.commits.get(id)?.parents ?? []) this.mark(parent, mark);
      const pause = this.#turn();
      if (pause) await pause;
    }
  }
}

/**
 * Commits reachable from `to` and not from `after`, as they were read; unordered.
 * @cost the commits down to where the two histories part for good; a clock set wrong adds to that, and in the
 *   worst case (histories without a common root) all of both is walked
 */
export async function between<T extends GraphCommit>(
  read: ReadGraph<T>,
  after: CommitId | null,
  to: CommitId,
): Promise<Map<CommitId, T>> {
  if (after === null) return reachedFrom(read, to);
  const painting = new Painting(read);
  painting.mark(to, LEFT);
  painting.mark(after, RIGHT);
  await painting.spread(() => painting.open);
  let set = leftFrom(painting, to);
  // A commit can be reached around the marks of `after` before these arrive: go on until that can't be.
  for (let steps = MORE_STEPS; !isSettled(painting, set); steps *= 2) {
    let left = steps;
    await painting.spread(() => left-- > 0 || painting.open);
    set = leftFrom(painting, to);
  }
  return set;
}

const MORE_STEPS = 256;

async function reachedFrom<T extends GraphCommit>(
  read: ReadGraph<T>,
  to: CommitId,
): Promise<Map<CommitId, T>> {
  const set = new Map<CommitId, T>();
  const queue = [to];
  const turn = slicer();
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (set.has(id)) continue;
    const commit = read(id);
    set.set(id, commit);
    for (const parent of commit.parents) queue.push(parent);
    const pause = turn();
    if (pause) await pause;
  }
  return set;
}

/**
 * Whether no mark that is still to come can reach the set. It comes from the frontier, and a commit that lies
 * below all of the set (as far as was walked) is above none of it: no history has a circle.
 */
function isSettled<T extends GraphCommit>(painting: Painting<T>, set: ReadonlyMap<CommitId, T>): boolean {
  const { frontier } = painting;
  if (frontier.length === 0) return true;
  for (const { parents } of set.values()) {
    if (parents.some((id) => set.has(id))) continue;
    const below = new Set<CommitId>(parents);
    for (const id of below) for (const parent of painting.commits.get(id)?.parents ?? []) below.add(parent);
    if (!frontier.every((id) => below.has(id))) return false;
  }
  return true;
}

/** What is reached from `to` over commits that bear its mark alone; below one with both, all have both. */
function leftFrom<T extends GraphCommit>(painting: Painting<T>, to: CommitId): Map<CommitId, T> {
  const set = new Map<CommitId, T>();
  const queue = [to];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    const commit = painting.commits.get(id);
    if (commit === undefined || painting.marks.get(id) !== LEFT || set.has(id)) continue;
    set.set(id, commit);
    queue.push(...commit.parents);
  }
  return set;
}

/** @cost the commits newer than the ancestor on a straight line; more with clocks that disagree */
export async function isAncestor(read: ReadGraph, ancestor: CommitId, of: CommitId): Promise<boolean> {
  if (ancestor === of) return true;
  const painting = new Painting(read);
  painting.mark(of, LEFT);
  painting.mark(ancestor, RIGHT);
  await painting.spread(() => painting.open && painting.marks.get(ancestor) !== BOTH);
  return painting.marks.get(ancestor) === BOTH;
}

/** Common ancestors that no other common ancestor descends from, by commit id. */
export async function mergeBases(read: ReadGraph, a: CommitId, b: CommitId): Promise<CommitId[]> {
  if (a === b) return [a];
  const painting = new Painting(read);
  painting.mark(a, LEFT);
  painting.mark(b, RIGHT);
  await painting.spread(() => painting.open);
  const common = [...painting.marks].filter(([, mark]) => mark === BOTH).map(([id]) => id);
  const below = new Set<CommitId>();
  for (const id of common) for (const parent of painting.commits.get(id)?.parents ?? []) below.add(parent);
  const candidates = common.filter((id) => !below.has(id));
  const bases: CommitId[] = [];
  for (const id of candidates) {
    let covered = false;
    for (const other of candidates) covered ||= other !== id && (await isAncestor(read, id, other));
    if (!covered) bases.push(id);
  }
  return bases.sort();
}

/**
 * Order a set of commits parents first; among those that are ready the earlier author date, then the smaller id.
 * @param set as `between` gives it: parents outside the set count as done
 */
export function parentsFirst(
  set: ReadonlyMap<CommitId, { readonly parents: readonly CommitId[]; readonly authoredS: number }>,
): CommitId[] {
  const waiting = new Map<CommitId, number>();
  const kids = new Map<CommitId, CommitId[]>();
  for (const [id, { parents }] of set) {
    const inside = [...new Set(parents)].filter((p) => set.has(p));
    waiting.set(id, inside.length);
    for (const parent of inside) {
      const list = kids.get(parent);
      if (list) list.push(id);
      else kids.set(parent, [id]);
    }
  }
  const order: CommitId[] = [];
  const ready = [...waiting].filter(([, n]) => n === 0).map(([id]) => id);
  const later = (a: CommitId, b: CommitId) => {
    const byDate = (set.get(b)?.authoredS ?? 0) - (set.get(a)?.authoredS ?? 0);
    return byDate !== 0 ? byDate : a < b ? 1 : -1;
  };
  ready.sort(later);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    order.push(id);
    for (const kid of kids.get(id) ?? []) {
      const left = (waiting.get(kid) ?? 0) - 1;
      waiting.set(kid, left);
      if (left === 0) insertSorted(ready, kid, later);
    }
  }
  return order;
}

function insertSorted<T>(list: T[], item: T, compare: (a: T, b: T) => number): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = list[middle];
    if (there !== undefined && compare(there, item) < 0) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, item);
}
