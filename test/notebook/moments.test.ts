import { expect, test } from "vitest";
import type { CommitId } from "../../src/domain/note.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { resolveMoment } from "../../src/notebook/moments.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { openMemoryStore } from "../support/memory/memory-store.ts";

// A Monday, 10:15 UTC.
const NOW_MS = Date.UTC(2026, 10, 30, 10, 15);
const caller: Caller = {
  principal: { kind: "person", name: "Ada", email: "ada@example.org" },
  session: null,
  task: null,
};

function notebook(last: CommitId | null = null) {
  const store = openMemoryStore({ now: () => NOW_MS });
  const commit = (day: number) =>
    store.person.commit({ "notes/a.md": `day ${day}\n` }, { atMs: Date.UTC(2026, 10, day, 12) });
  const first = commit(1);
  const second = commit(23);
  const third = commit(29);
  const deps = { store, clock: fakeClock(NOW_MS), seen: { last: () => last } };
  const moment = (text: string, parameter = "at") => resolveMoment(deps, text, caller, parameter);
  return { first, second, third, moment };
}

test.each([
  ["7d", "2026-11-23T10:15:00.000Z"],
  ["12h", "2026-11-29T22:15:00.000Z"],
  ["monday", "2026-11-30T00:00:00.000Z"],
  ["Sunday", "2026-11-29T00:00:00.000Z"],
  ["tue", "2026-11-24T00:00:00.000Z"],
  ["today", "2026-11-30T00:00:00.000Z"],
  ["yesterday", "2026-11-29T00:00:00.000Z"],
  ["2026-11-30", "2026-11-30T00:00:00.000Z"],
  ["2026-11-30T08:00", "2026-11-30T08:00:00.000Z"],
  ["2026-11-30 08:00:01.5+02:00", "2026-11-30T06:00:01.500Z"],
  ["2026-11-30t08:00:00z", "2026-11-30T08:00:00.000Z"],
  ["2026-11-30T08:00:00-0530", "2026-11-30T13:30:00.000Z"],
])("%s is %s", async (text, iso) => {
  const { atMs } = await notebook().moment(text);
  expect(new Date(atMs).toISOString()).toBe(iso);
});

test("a time's commit is the newest by then, none before the first", async () => {
  const { moment, first, second, third } = notebook();
  expect((await moment("7d")).commit).toBe(first);
  expect((await moment("6d")).commit).toBe(second);
  expect((await moment("12h")).commit).toBe(third);
  expect((await moment("2026-01-01")).commit).toBeNull();
});

test("the place before the first commit begins a stretch of history, and is no commit", async () => {
  const { moment } = notebook();
  const zeros = "0".repeat(40);
  expect(await moment(zeros, "since")).toEqual({ commit: null, atMs: 0 });
  for (const parameter of ["at", "to", "until"])
    await expect(moment(zeros, parameter)).rejects.toMatchObject({
      code: "UNKNOWN_COMMIT",
      message: expect.stringMatching(/before the first commit.*Name a commit or a time/),
    });
});

test("a commit is found by all of its digits or enough of them, with its time", async () => {
  const { moment, second } = notebook();
  const found = { commit: second, atMs: Date.UTC(2026, 10, 23, 12) };
  expect(await moment(second)).toEqual(found);
  expect(await moment(second.slice(0, 9).toUpperCase())).toEqual(found);
  expect(await moment(`${second}@3+2`)).toEqual(found);
});

test("last is where the caller's previous session ended", async () => {
  const { second } = notebook();
  expect(await notebook(second).moment("last")).toEqual({ commit: second, atMs: Date.UTC(2026, 10, 23, 12) });
  expect(await notebook(null).moment("last")).toEqual({ commit: null, atMs: 0 });
});

test.each([
  "",
  "someday",
  "0d",
  "-7d",
  "1.5h",
  "999999h",
  "2026-02-30",
  "2026-13-01",
  "2026-11-30T25:00",
  "abc",
  "m",
])("%j is refused with the forms that are meant", async (text) => {
  await expect(notebook().moment(text)).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    data: { issues: [{ message: expect.stringMatching(/give|expected/) }] },
  });
});

test("a short id that ends in d is a commit and no span of days", async () => {
  await expect(notebook().moment("0798806d")).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
});

test("digits of no commit are unknown", async () => {
  await expect(notebook().moment("f".repeat(40))).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
  await expect(notebook().moment("abcdef0")).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
});

test("what is no moment is refused with the parameter that held it", async () => {
  const { moment } = notebook();
  await expect(moment("garbage")).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringMatching(/^at: "garbage" is no moment/),
    data: { issues: [{ path: "at" }] },
  });
});
