import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import { Heads } from "../../../src/notebook/feed/heads.ts";

const id = (text: string) => text.padStart(40, "0") as CommitId;
const [A, B, C, D, E] = ["a", "b", "c", "d", "e"].map(id) as [
  CommitId,
  CommitId,
  CommitId,
  CommitId,
  CommitId,
];

let folder = "";
let log: unknown[] = [];
const timers: (() => void)[] = [];
const clock: Clock = {
  now: () => Date.parse("2026-11-30T10:15:00.000Z"),
  after: (_ms, fn) => {
    timers.push(fn);
    return () => void timers.splice(timers.indexOf(fn), 1);
  },
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "heads-"));
  log = [];
  timers.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "notesd", "heads");
const open = (maxMoves = 100) =>
  Heads.open({ file: file(), clock, warn: (message) => log.push(message), maxMoves });
const shape = (heads: Heads) => heads.moves.map((m) => [m.n, m.from, m.to, m.kind, m.via, m.again]);

test("a move by others is on disk when it becomes visible, with our own moves before it", async () => {
  const heads = await open();
  expect(heads.known).toBe(false);
  await heads.restart(A);
  heads.own(B);
  heads.own(C);
  await heads.other(D, "sync");
  const after = await open();
  expect(after.known).toBe(true);
  expect(shape(after)).toEqual(shape(heads));
  expect(shape(after)).toEqual([
    [1, A, C, "own", "live", false],
    [2, C, D, "other", "sync", false],
  ]);
  expect(after.end).toEqual({ n: 2, commit: D });
  expect(log).toEqual([]);
});

test("moves of our own are written when the timer says so, and at close", async () => {
  const heads = await open();
  await heads.restart(null);
  heads.own(A);
  heads.own(B);
  expect(timers).toHaveLength(1);
  timers[0]?.();
  await heads.flush();
  expect(shape(await open())).toEqual([[1, null, B, "own", "live", false]]);
  heads.own(C);
  await heads.close();
  expect(shape(await open())).toEqual([[1, null, C, "own", "live", false]]);
});

test("a second visit of a head is known as one, also after a restart", async () => {
  const heads = await open();
  await heads.restart(A);
  heads.own(B);
  await heads.other(A, "live");
  await heads.other(B, "live");
  const after = await open();
  expect(shape(after)).toEqual([
    [1, A, B, "own", "live", false],
    [2, B, A, "other", "live", true],
    [3, A, B, "other", "live", true],
  ]);
  expect(after.firstVisit(B)).toBe(1);
  expect(after.firstVisit(A)).toBe(0);
});

test("every torn tail leaves the whole lines before it, and appending goes on", async () => {
  const heads = await open();
  await heads.restart(A);
  await heads.other(B, "live");
  await heads.other(C, "push");
  await heads.close();
  const whole = readFileSync(file());
  const second = whole.indexOf(10, whole.indexOf(10) + 1) + 1;
  for (let length = second; length < whole.length; length++) {
    truncateSync(file(), length);
    const torn = await open();
    expect(torn.head).toBe(B);
    await torn.other(C, "push");
    await torn.close();
    expect(readFileSync(file()).equals(whole)).toBe(true);
  }
});

test("a line that does not follow the one before is not believed", async () => {
  const heads = await open();
  await heads.restart(A);
  await heads.other(B, "live");
  await heads.close();
  const line = { n: 2, from: D, to: E, kind: "other", via: "live", at: "x", again: false, back: false };
  appendFileSync(file(), `${JSON.stringify(line)}\n`);
  expect((await open()).head).toBe(B);
  expect(log).toEqual([expect.stringContaining("can't be read")]);
});

test("the oldest moves go when there are too many, numbers stay", async () => {
  const heads = await open(4);
  await heads.restart(A);
  const visits = [B, C, D, E, id("f")];
  for (const commit of visits) await heads.other(commit, "live");
  expect(shape(heads).map(([n]) => n)).toEqual([4, 5]);
  expect(heads.start).toEqual({ n: 3, commit: D });
  const after = await open(4);
  expect(after.start).toEqual({ n: 3, commit: D });
  expect(shape(after)).toEqual(shape(heads));
  expect(after.firstVisit(B)).toBeNull();
});

test("a restart of the record keeps numbers from being used twice", async () => {
  const heads = await open();
  await heads.restart(A);
  await heads.other(B, "live");
  await heads.restart(C);
  expect(heads.end).toEqual({ n: 2, commit: C });
  expect((await open()).end).toEqual({ n: 2, commit: C });
});

test("a record that can't be written is reported and written whole later", async () => {
  const heads = await open();
  await heads.restart(A);
  await heads.other(B, "live");
  rmSync(join(folder, "notesd"), { recursive: true });
  await heads.restart(B);
  expect(log).toEqual([expect.stringContaining("could not be written")]);
  await heads.other(C, "live");
  expect(heads.head).toBe(C);
  mkdirSync(join(folder, "notesd"));
  heads.own(D);
  await heads.close();
  expect(shape(await open())).toEqual(shape(heads));
});
