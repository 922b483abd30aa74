import { beforeEach, expect, test } from "vitest";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import { createSettling, type Settling } from "../../../src/notebook/reconcile/settling.ts";

const path = (name: string) => `notes/${name}.md` as RepoPath;
const text = (letter: string) => letter.repeat(40) as BlobId;
const [A, B] = [text("a"), text("b")];
const TIMES = { quietMs: 10_000, maxWaitMs: 300_000, graceMs: 1000 };

let settling: Settling;
const ripe = (nowMs: number) => settling.ripe(nowMs).map((group) => group.edits.map((edit) => edit.path));
const atOnceMs = (name: string) => settling.groupsOf([path(name)])[0]?.atOnceMs;
beforeEach(() => {
  settling = createSettling(TIMES);
});

test("an edit settles when it lay unchanged for the quiet time, not a millisecond sooner", () => {
  settling.saw(path("x"), B, A, 5000);
  expect(settling.nextMs()).toBe(15_000);
  expect(ripe(14_999)).toEqual([]);
  expect(ripe(15_000)).toEqual([[path("x")]]);
});

test("each further save starts the quiet time again; the same bytes don't", () => {
  settling.saw(path("x"), B, A, 0);
  settling.saw(path("x"), text("c"), A, 4000);
  settling.saw(path("x"), text("c"), A, 9000);
  expect(settling.nextMs()).toBe(14_000);
});

test("an editor that saves every two seconds is committed after the longest wait", () => {
  for (let ms = 0; ms < 300_000; ms += 2000) settling.saw(path("x"), text(String((ms / 2000) % 10)), A, ms);
  expect(ripe(299_999)).toEqual([]);
  expect(ripe(300_000)).toEqual([[path("x")]]);
});

test("a deletion is none before a second, however short the quiet time", () => {
  settling = createSettling({ quietMs: 10, maxWaitMs: 20, graceMs: 1 });
  settling.saw(path("x"), null, A, 0);
  expect(settling.nextMs()).toBe(1000);
  expect(atOnceMs("x")).toBe(1000);
});

test("a file that comes back after it was deleted is an edit like any", () => {
  settling.saw(path("x"), null, A, 0);
  settling.saw(path("x"), B, A, 250);
  expect(atOnceMs("x")).toBe(0);
  expect(settling.nextMs()).toBe(10_250);
});

test("a new file with the text of a missing one waits for it, and both settle together", () => {
  settling.saw(path("new"), A, null, 0);
  settling.saw(path("old"), null, A, 6000);
  expect(ripe(10_000)).toEqual([]);
  expect(ripe(16_000)).toEqual([[path("old"), path("new")]]);
  expect(settling.groupsOf([path("new")])[0]?.edits).toHaveLength(2);
  expect(atOnceMs("new")).toBe(7000);
});

test("a file renamed over another settles with it: where that one is held, the note stays on the branch", () => {
  settling.saw(path("over"), A, B, 0);
  settling.saw(path("gone"), null, A, 5000);
  expect(ripe(10_000)).toEqual([]);
  expect(ripe(15_000)).toEqual([[path("gone"), path("over")]]);
  settling.hold(path("over"), "staged");
  expect(ripe(1e9)).toEqual([]);
});

test("what is held never settles, nor does the rename it is half of, until it is saved again", () => {
  settling.saw(path("old"), null, A, 0);
  settling.saw(path("new"), A, null, 0);
  settling.hold(path("new"), "staged");
  expect(settling.nextMs()).toBeNull();
  expect(ripe(1e9)).toEqual([]);
  settling.saw(path("new"), B, null, 1000);
  expect(ripe(1e9)).toEqual([[path("old")], [path("new")]]);
});

test("a hold ends when the branch moves under it", () => {
  settling.saw(path("x"), B, A, 0);
  settling.hold(path("x"), "conflict");
  settling.saw(path("x"), B, A, 1);
  expect(settling.get(path("x"))?.hold).toBe("conflict");
  settling.saw(path("x"), B, text("c"), 2);
  expect(settling.get(path("x"))?.hold).toBeNull();
});

test("files saved together are looked at together, a little after the first has settled", () => {
  for (let i = 0; i < 500; i++) settling.saw(path(`n${i}`), B, A, i);
  settling.saw(path("later"), B, A, 5000);
  expect(settling.nextMs()).toBe(10_499);
  expect(ripe(10_499)).toHaveLength(500);
});
