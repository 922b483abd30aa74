/**
 * Questions about ancestry, answered from parents alone. Dates only decide what is looked at first, so that
 * the usual question touches the newest commits; no answer depends on a clock.
 */
import type { CommitId } from "../../domain/note.ts";

interface GraphCommit {
  readonly parents: readonly CommitId[];
  /** Committer date, seconds: a hint for the order of looking. */
  readonly committedS: number;
}

/** @throws NotesError UNKNOWN_COMMIT */
type ReadGraph = (id: CommitId) => Promise<GraphCommit>;

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;

/** A max-heap of commits by committer date. */
class Queue {
  readonly #items: { id: CommitId; at: number }[] = [];

  get size(): number {
    return this.#items.length;
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
class Painting {
  readonly marks = new Map<CommitId, number>();
  readonly commits = new Map<CommitId, GraphCommit>();
  readonly #queue = new Queue();
  readonly #queued = new Set<CommitId>();
  readonly #read: ReadGraph;
  /** Queued commits that don't yet bear both marks. */
  #open = 0;

  constructor(read: ReadGraph) {
    this.#read = read;
  }

  get open(): boolean {
    return this.#open > 0;
  }

  get more(): boolean {
    return this.#queue.size > 0;
  }

  async mark(id: CommitId, mark: number): Promise<void> {
    const before = this.marks.get(id) ?? 0;
    const after = before | mark;
    if (after === before) return;
    let commit = this.commits.get(id);
    if (commit === undefined) {
      commit = await this.#read(id);
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

  async step(): Promise<void> {
    const id = this.#queue.pop();
    if (id === undefined) return;
    this.#queued.delete(id);
    const mark = this.marks.get(id) ?? 0;
    if (mark !== BOTH) this.#open--;
    for (const parent of this.commits.get(id)?.parents ?? []) await this.mark(parent, mark);
  }
}

/**
 * Commits reachable from `to` and not from `after`, with their parents; unordered.
 * @cost the commits in between when they form a chain; all of `after`'s history when there is a merge among them
 */
export async function between(
  read: ReadGraph,
  after: CommitId | null,
  to: CommitId,
): Promise<Map<CommitId, GraphCommit>> {
  const painting = new Painting(read);
  await painting.mark(to, LEFT);
  if (after !== null) await painting.mark(after, RIGHT);
  while (painting.open) await painting.step();
  let set = leftFrom(painting, to);
  // With a merge, a commit can be reached around the marks of `after` before these arrive: let them arrive.
  if (after !== null && [...set.values()].some((c) => c.parents.length > 1)) {
    while (painting.more) await painting.step();
    set = leftFrom(painting, to);
  }
  return set;
}

/** What is reached from `to` over commits that bear its mark alone; below one with both, all have both. */
function leftFrom(painting: Painting, to: CommitId): Map<CommitId, GraphCommit> {
  const set = new Map<CommitId, GraphCommit>();
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
  await painting.mark(of, LEFT);
  await painting.mark(ancestor, RIGHT);
  while (painting.open && painting.marks.get(ancestor) !== BOTH) await painting.step();
  return painting.marks.get(ancestor) === BOTH;
}

/** Common ancestors that no other common ancestor descends from, by commit id. */
export async function mergeBases(read: ReadGraph, a: CommitId, b: CommitId): Promise<CommitId[]> {
  if (a === b) return [a];
  const painting = new Painting(read);
  await painting.mark(a, LEFT);
  await painting.mark(b, RIGHT);
  while (painting.open) await painting.step();
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
