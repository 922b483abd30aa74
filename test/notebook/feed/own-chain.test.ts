import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import type { Heads, Move } from "../../../src/notebook/feed/heads.ts";
import { OwnChain } from "../../../src/notebook/feed/own-chain.ts";
import { openMemoryStore } from "../../support/memory/memory-store.ts";

/** A chain of `count` commits on `parent`. */
function chainOn(
  store: ReturnType<typeof openMemoryStore>,
  parent: CommitId | null,
  count: number,
  name: string,
) {
  const made: CommitId[] = [];
  for (let i = 0; i < count; i++) {
    const on = made.at(-1) ?? parent;
    made.push(
      store.person.commit({ "notes/a.md": `${name} ${i}\n` }, { parents: on ? [on] : [], atMs: i * 1000 }),
    );
  }
  return made;
}

const move = (n: number, from: CommitId | null, to: CommitId, over: Partial<Move> = {}): Move => ({
  n,
  from,
  to,
  kind: "own",
  via: "live",
  at: "2026-11-30T10:15:00.000Z",
  again: false,
  back: false,
  ...over,
});
const headsOf = (...moves: Move[]) => {
  const heads: Pick<Heads, "moves" | "move"> = { moves, move: (n) => moves.find((m) => m.n === n) ?? null };
  return heads as Heads; // `find` asks for nothing else
};
const last = (ids: readonly CommitId[]) => ids.at(-1) as CommitId;

test("a long chain is read a stretch at a time and whole", async () => {
  const store = openMemoryStore();
  const ids = chainOn(store, null, 30, "a");
  const chain = new OwnChain(store, 8);
  const whole = move(1, null, last(ids));
  const read: CommitId[] = [];
  for (let at: CommitId | null = null; at !== whole.to; at = last(read))
    read.push(...(await chain.after(whole, at, 3)));
  expect(read).toEqual(ids);
  expect(await chain.after(whole, whole.to, 3)).toEqual([]);
});

test("commits are found in the own move that made them, over resets and moves by others", async () => {
  const store = openMemoryStore();
  const a = chainOn(store, null, 5, "a");
  const theirs = chainOn(store, last(a), 4, "t");
  const b = chainOn(store, last(theirs), 5, "b");
  const c = chainOn(store, a[2] ?? null, 5, "c");
  const heads = headsOf(
    move(1, null, last(a)),
    move(2, last(a), last(theirs), { kind: "other" }),
    move(3, last(theirs), last(b)),
    move(4, last(b), a[2] as CommitId, { kind: "other", back: true, again: true }),
    move(5, a[2] as CommitId, last(c)),
  );
  const chain = new OwnChain(store, 0);
  const find = (ids: readonly CommitId[]) => Promise.all(ids.map((id) => chain.find(heads, id)));
  expect(await find(a)).toEqual([1, 1, 1, 1, 1]);
  expect(await find(b)).toEqual([3, 3, 3, 3, 3]);
  expect(await find(c)).toEqual([5, 5, 5, 5, 5]);
  expect(await find(theirs)).toEqual([null, null, null, null]);
});

test("what was made just now costs no walk", async () => {
  const none = () => {
    throw new Error("the store was asked");
  };
  const store = openMemoryStore();
  const ids = chainOn(store, null, 4, "a");
  const chain = new OwnChain({ history: none, isAncestor: none }, 100);
  chain.remember(1, null, ids);
  const whole = move(1, null, last(ids));
  expect(await chain.after(whole, ids[0] ?? null, 10)).toEqual(ids.slice(1));
  expect(await chain.find(headsOf(whole), ids[2] as CommitId)).toBe(1);
});

test("the move that brought a commit is told, made here or taken over; of what was there before none is", async () => {
  const store = openMemoryStore();
  const before = chainOn(store, null, 3, "before");
  const a = chainOn(store, last(before), 4, "a");
  const theirs = chainOn(store, last(a), 4, "t");
  const b = chainOn(store, last(theirs), 4, "b");
  const c = chainOn(store, a[1] ?? null, 3, "c");
  const heads = headsOf(
    move(1, last(before), last(a)),
    move(2, last(a), last(theirs), { kind: "other", via: "sync" }),
    move(3, last(theirs), last(b)),
    move(4, last(b), last(c), { kind: "other", back: true }),
  );
  const chain = new OwnChain(store, 8);
  const brought = async (ids: readonly CommitId[]) => {
    const found = new Set<number | null>();
    for (const id of ids) found.add((await chain.broughtBy(heads, id))?.n ?? null);
    return [...found];
  };
  expect(await brought(before)).toEqual([null]);
  expect(await brought(a)).toEqual([1]);
  expect(await brought(theirs)).toEqual([2]);
  expect(await brought(b)).toEqual([3]);
  expect(await brought(c)).toEqual([4]);
});
