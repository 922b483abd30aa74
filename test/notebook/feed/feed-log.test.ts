/**
 * The log against a model, at random: our writes, people's commits, merges, resets, kills; subscribers that come,
 * pause, go and come back; pages of every size. Every stream is the log: no gap, no repeat, the same bytes.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NoteFilter } from "../../../src/domain/filters.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import { BEGINNING } from "../../../src/notebook/feed/cursor.ts";
import type { LogMemory } from "../../../src/notebook/feed/log-reader.ts";
import type { Changed } from "../../../src/notebook/notebook.ts";
import { blobOf } from "../../support/drafts.ts";
import { type Files, feedBench, type Heard } from "../../support/feed-bench.ts";

type State = ReadonlyMap<string, string>;
/** One note of one batch: what any right record says of it. */
interface Fact {
  readonly note_id: string;
  readonly path: string;
  readonly revision: string | null;
  readonly tagged: boolean;
}
/** After this many batches, and events of the next. */
interface Spot {
  readonly batch: number;
  readonly skip: number;
}
interface Reader {
  readonly heard: Heard;
  readonly from: Spot;
  readonly filter: NoteFilter;
}

const FILTERS: readonly NoteFilter[] = [{}, { tags: ["x"] }];
const PATHS = ["a", "b", "c", "d", "e", "f"].map((name) => `notes/${name}.md`);

const Op = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("write" as const), seed: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("foreign" as const), seed: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("merge" as const), seed: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reset" as const), seed: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), seed: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("listen" as const), seed: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("leave" as const), seed: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pause" as const), seed: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("page" as const), seed: fc.nat() }) },
);

test.each([
  ["with the usual memory", undefined],
  ["with almost none, so that all is read again", { commits: 3, items: 3 }],
])("every subscriber's stream and every page is the log, %s", { timeout: 120_000 }, async (_name, memory) => {
  await fc.assert(
    fc.asyncProperty(fc.array(Op, { minLength: 5, maxLength: 40 }), async (ops) => {
      const world = await openWorld(memory);
      try {
        for (const op of ops) await world[op.kind](dice(op.seed));
        await world.checkEverything();
      } finally {
        world.remove();
      }
    }),
    { numRuns: 25 },
  );
});

async function openWorld(memory: LogMemory | undefined) {
  const bench = await feedBench(memory ? { memory } : {});
  const states = new Map<CommitId | null, State>([[null, new Map()]]);
  const batches: Fact[][] = [];
  const bytes: string[][] = [];
  const cursors = new Map<string, Spot>([[BEGINNING, { batch: 0, skip: 0 }]]);
  const readers: Reader[] = [];
  let head: CommitId | null = null;
  let names = 0;

  const stateOf = (commit: CommitId | null) => states.get(commit) ?? new Map<string, string>();
  const move = (to: CommitId, state: State) => {
    batches.push(factsOf(stateOf(head), state));
    states.set(to, state);
    head = to;
  };
  /** A change of one or more notes against a state. */
  const edit = (state: State, roll: Dice): Files => {
    const files: Record<string, string | null> = {};
    for (let i = 0; i <= roll(3); i++) {
      const path = PATHS[roll(PATHS.length)] ?? "";
      const now = state.get(path);
      const free = PATHS.find((other) => !state.has(other) && !(other in files));
      if (path in files) continue;
      if (now === undefined) files[path] = newNote(names++, roll(2) === 0);
      else files[path] = roll(3) === 0 ? null : `${now}more ${names++}\n`;
      if (now !== undefined && free && roll(4) === 0) Object.assign(files, { [path]: null, [free]: now });
    }
    return files;
  };
  const expected = (spot: Spot, filter: NoteFilter) =>
    batches.slice(spot.batch).flatMap((facts, i) => {
      const passing = facts.flatMap((fact, at) => (filter.tags && !fact.tagged ? [] : [{ fact, at }]));
      const left = passing.filter(({ at }) => i > 0 || at >= spot.skip);
      return left.map(({ fact, at }, j) => {
        const last = j === left.length - 1;
        const batch = spot.batch + i;
        return { fact, last, batch, after: last ? { batch: batch + 1, skip: 0 } : { batch, skip: at + 1 } };
      });
    });
  const check = (changes: readonly Changed[], spot: Spot, filter: NoteFilter, whole: boolean) => {
    const all = expected(spot, filter);
    const wanted = whole ? all : all.slice(0, changes.length);
    expect(changes.map(factOf)).toEqual(wanted.map(({ fact }) => shown(fact)));
    expect(changes.map((c) => c.cursor !== undefined)).toEqual(wanted.map(({ last }) => last));
    for (const [i, { cursor }] of changes.entries()) {
      const after = wanted[i]?.after;
      if (cursor && after) learn(cursor, after);
    }
  };
  const learn = (cursor: string, spot: Spot) => {
    const known = cursors.get(cursor);
    // Batches without notes have cursors that nobody is given; a bare id names the first place.
    if (known) expect(expected(known, {}).length).toBe(expected(spot, {}).length);
    else cursors.set(cursor, spot);
  };
  const anyCursor = (roll: Dice) => [...cursors][roll(cursors.size)] ?? [BEGINNING, { batch: 0, skip: 0 }];
  const anyFilter = (roll: Dice) => FILTERS[roll(FILTERS.length)] ?? {};

  return {
    async write(roll: Dice) {
      const chain: Files[] = [];
      let state = stateOf(head);
      const after: State[] = [];
      for (let i = 0; i <= roll(3); i++) {
        const files = edit(state, roll);
        chain.push(files);
        state = patched(state, files);
        after.push(state);
      }
      const ids = await bench.write(...chain);
      for (const [i, id] of ids.entries()) move(id, after[i] ?? state);
    },
    async foreign(roll: Dice) {
      let state = stateOf(head);
      const commits: Files[] = [];
      for (let i = 0; i <= roll(3); i++) {
        const files = edit(state, roll);
        commits.push(files);
        state = patched(state, files);
      }
      move(await bench.foreign(commits, roll(2) ? "sync" : "push"), state);
    },
    async merge(roll: Dice) {
      if (head === null) return;
      const heads = [...states.keys()].filter((commit) => commit !== null);
      const base = heads[roll(heads.length)] ?? head;
      const path = `notes/side-${names}.md`;
      const text = newNote(names++, true);
      const side = bench.store.person.commit(
        { [path]: text },
        { parents: [base], move: false, atMs: bench.clock.now() },
      );
      const state = new Map([...stateOf(head), [path, text] as const]);
      const sideState = patched(stateOf(base), { [path]: text });
      if (roll(2)) move(await bench.foreign([{ [path]: text }], "sync", [head, side]), state);
      else {
        const gone = [...sideState.keys()].filter((p) => !state.has(p)).map((p) => [p, null] as const);
        const files = Object.fromEntries([...state, ...gone]);
        move(await bench.foreign([files], "live", [side, head]), state);
      }
    },
    async reset(roll: Dice) {
      const heads = [...states.keys()].filter((commit) => commit !== null);
      const to = heads[roll(heads.length)];
      if (!to || to === head) return;
      await bench.observe(to);
      move(to, stateOf(to));
    },
    async kill(roll: Dice) {
      for (const reader of readers.splice(0)) check(reader.heard.changes, reader.from, reader.filter, false);
      if (roll(2) || head === null) return bench.restart();
      const files = edit(stateOf(head), roll);
      const theirs = bench.store.person.commit(files, { atMs: bench.clock.now() + 500, move: false });
      await bench.restart(theirs);
      move(theirs, patched(stateOf(head), files));
    },
    async listen(roll: Dice) {
      const filter = anyFilter(roll);
      const [cursor, spot] = anyCursor(roll);
      const since = roll(3) ? cursor : null;
      const from = since === null ? { batch: batches.length, skip: 0 } : spot;
      readers.push({ heard: await bench.listen(filter, since), from, filter });
    },
    async leave(roll: Dice) {
      const [reader] = readers.splice(roll(readers.length || 1), 1);
      if (!reader) return;
      const { heard, from, filter } = reader;
      heard.unsubscribe();
      check(heard.changes, from, filter, false);
      const last = heard.changes.findLast((change) => change.cursor);
      const spot = last?.cursor === undefined ? from : cursors.get(last.cursor);
      if (spot && last?.cursor && roll(2)) {
        readers.push({ heard: await bench.listen(filter, last.cursor), from: spot, filter });
      }
    },
    async pause(roll: Dice) {
      const heard = readers[roll(readers.length || 1)]?.heard;
      if (roll(2)) heard?.pause();
      else heard?.resume();
    },
    async page(roll: Dice) {
      const [cursor, spot] = anyCursor(roll);
      const filter = anyFilter(roll);
      const limit = 1 + roll(4);
      const all = expected(spot, filter);
      const page = await bench.feed.changes(cursor, limit, filter);
      check(page.changes, spot, filter, false);
      expect(page).toMatchObject({ squashed: false, more: all.length > limit });
      expect(page.changes).toHaveLength(Math.min(all.length, limit));
      // A page's end is also past what did not pass before the next event.
      const after = all[limit - 1]?.after;
      const next = all[limit]?.batch ?? batches.length;
      learn(page.cursor, page.more && after?.skip ? after : { batch: next, skip: 0 });
    },
    async checkEverything() {
      for (const { heard, from, filter } of readers) {
        heard.resume();
        await bench.level(heard);
        check(heard.changes, from, filter, true);
        expect(heard.failures).toEqual([]);
      }
      const whole = await bench.pages(BEGINNING);
      bytes.push(whole.changes.map((change) => JSON.stringify(change)));
      for (const { heard, filter } of readers) {
        if (!filter.tags) {
          const tail = whole.changes.slice(whole.changes.length - heard.changes.length);
          expect(JSON.stringify(heard.changes)).toBe(JSON.stringify(tail));
        }
      }
      await bench.restart();
      for (const [cursor, spot] of cursors) {
        const { changes } = await bench.pages(cursor, {}, 3);
        check(changes, spot, {}, true);
        expect(changes).toEqual(whole.changes.slice(whole.changes.length - changes.length));
      }
    },
    remove: bench.remove,
  };
}

type Dice = (sides: number) => number;

/** A small generator of its own, so that an operation's choices shrink as one number. */
function dice(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % Math.max(1, sides);
  };
}

function patched(state: State, files: Files): State {
  const next = new Map(state);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) next.delete(path);
    else next.set(path, text);
  }
  return next;
}

const newNote = (n: number, tagged: boolean) => `---\nid: n${n}\n${tagged ? "tags: [x]\n" : ""}---\n`;
const idIn = (text: string) => /^id: (\S+)/m.exec(text)?.[1] ?? "";
const isTagged = (text: string) => text.includes("tags: [x]");

/** The note-level difference of two states, by path. */
function factsOf(before: State, after: State): Fact[] {
  const facts: Fact[] = [];
  const alive = new Set([...after.values()].map(idIn));
  for (const [path, text] of after) {
    if (before.get(path) === text) continue;
    facts.push({ note_id: idIn(text), path, revision: blobOf(text), tagged: isTagged(text) });
  }
  for (const [path, text] of before) {
    if (!alive.has(idIn(text)))
      facts.push({ note_id: idIn(text), path, revision: null, tagged: isTagged(text) });
  }
  const order = (fact: Fact) => `${fact.path} ${fact.revision === null ? 0 : 1}`;
  return facts.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

const shown = ({ note_id, path, revision }: Fact) => ({ note_id, path, revision });
const factOf = ({ note_id, path, revision }: Changed) => ({ note_id, path, revision });
