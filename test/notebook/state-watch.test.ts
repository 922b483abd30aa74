import { expect, test } from "vitest";
import { type StateSince, watchState } from "../../src/notebook/state-watch.ts";
import type { RepoState } from "../../src/store/note-store.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { until } from "../support/wait.ts";

const OK: RepoState = { state: "ok" };
const MERGE: RepoState = { state: "merge", path: "MERGE_HEAD" };

async function watching() {
  const clock = fakeClock();
  const log: unknown[] = [];
  const told: StateSince[] = [];
  let state: RepoState | Error = OK;
  let looks = 0;
  const store = {
    async state() {
      looks++;
      if (state instanceof Error) throw state;
      return state;
    },
  };
  const watch = await watchState({ store, clock, warn: (message) => log.push(message) });
  watch.onState((now) => told.push(now));
  return {
    clock,
    log,
    told,
    watch,
    set(next: RepoState | Error) {
      state = next;
    },
    get looks() {
      return looks;
    },
  };
}

test("each change is told once, with the time it was seen", async () => {
  const bench = await watching();
  expect(bench.watch.current).toEqual({ state: "ok", since: "2026-11-30T10:15:00.000Z" });
  bench.clock.advance(500);
  bench.set(MERGE);
  await bench.watch.look();
  await bench.watch.look();
  expect(bench.told).toEqual([{ ...MERGE, since: "2026-11-30T10:15:00.500Z" }]);
  expect(bench.watch.current).toEqual(bench.told[0]);
  bench.set(OK);
  await bench.watch.look();
  expect(bench.told.map(({ state }) => state)).toEqual(["merge", "ok"]);
});

test("a change without a hint is found by the poll", async () => {
  const bench = await watching();
  bench.set(MERGE);
  bench.clock.advance(2_000);
  await until("the state", () => bench.told.length === 1);
  bench.set(OK);
  await until("the next poll to be set", () => bench.clock.waiting > 0);
  bench.clock.advance(2_000);
  await until("the state", () => bench.told.length === 2);
});

test("a hint during a look is followed by another look", async () => {
  const bench = await watching();
  const before = bench.looks;
  const first = bench.watch.look();
  bench.set(MERGE);
  await Promise.all([first, bench.watch.look(), bench.watch.look()]);
  expect(bench.told).toHaveLength(1);
  expect(bench.looks - before).toBe(2);
});

test("a state that can't be read leaves the known one and is reported once", async () => {
  const bench = await watching();
  bench.set(new Error("EIO"));
  await bench.watch.look();
  await bench.watch.look();
  expect(bench.log).toHaveLength(1);
  expect(bench.watch.current.state).toBe("ok");
  bench.set(MERGE);
  await bench.watch.look();
  expect(bench.told).toHaveLength(1);
});

test("nothing is told after stop, and no timer is left", async () => {
  const bench = await watching();
  bench.set(MERGE);
  const last = bench.watch.look();
  bench.watch.stop();
  await last;
  expect(bench.told).toEqual([]);
  expect(bench.clock.waiting).toBe(0);
});
