import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../src/domain/note.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { openSeen } from "../../src/notebook/seen.ts";
import { type FakeClock, fakeClock } from "../support/fake-clock.ts";

const MINUTE_MS = 60_000;
const head = (n: number) => String(n).padStart(40, "0") as CommitId;

let folder = "";
let clock: FakeClock;
let log: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "seen-"));
  clock = fakeClock();
  log = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "notesd", "seen.json");
const open = () => openSeen({ file: file(), clock, warn: (message) => log.push(message) });
const planner = (session: string | null = null): Caller => ({
  principal: { kind: "agent", name: "Planner", agentId: 7, readOnly: false, mcp: false },
  session,
  task: null,
});
const ada: Caller = {
  principal: { kind: "person", name: "Ada", email: "ada@example.org" },
  session: null,
  task: null,
};

test("a caller that was never here has everything before it", () => {
  const seen = open();
  expect(seen.last(planner())).toBeNull();
  seen.note(planner(), head(1));
  seen.note(planner(), head(2));
  expect(seen.last(planner())).toBeNull();
});

test("after 30 idle minutes last is the head at the last request before, and stays it", () => {
  const seen = open();
  seen.note(planner(), head(1));
  clock.advance(20 * MINUTE_MS);
  seen.note(planner(), head(2));
  clock.advance(30 * MINUTE_MS + 1);
  expect(seen.last(planner())).toBe(head(2));
  seen.note(planner(), head(5));
  expect(seen.last(planner())).toBe(head(2));
  clock.advance(5 * MINUTE_MS);
  seen.note(planner(), head(6));
  expect(seen.last(planner())).toBe(head(2));
});

test("callers do not disturb each other, and a name is its fold", () => {
  const seen = open();
  seen.note(planner(), head(1));
  seen.note(ada, head(4));
  clock.advance(31 * MINUTE_MS);
  const shouting: Caller = {
    ...planner(),
    principal: { kind: "agent", name: "PLANNER", agentId: 7, readOnly: false, mcp: false },
  };
  expect(seen.last(shouting)).toBe(head(1));
  expect(seen.last(ada)).toBe(head(4));
});

test("a new session begins where the named one before it ended, whatever came unnamed in between", () => {
  const seen = open();
  seen.note(planner("a"), head(1));
  seen.note(planner("a"), head(2));
  // A new connection: its first request is session.set itself, seen before, inside and after.
  seen.note(planner(null), head(5));
  seen.note(planner("b"), head(5));
  seen.note(planner(null), head(5));
  expect(seen.last(planner("b"))).toBe(head(2));
  seen.note(planner("b"), head(6));
  expect(seen.last(planner("b"))).toBe(head(2));
});

test("naming the first session keeps everything before it", () => {
  const seen = open();
  seen.note(planner(null), head(5));
  seen.note(planner("a"), head(5));
  expect(seen.last(planner("a"))).toBeNull();
});

test("a reconnect under the same name is the same session", () => {
  const seen = open();
  seen.note(planner("a"), head(1));
  seen.note(planner("b"), head(2));
  seen.note(planner(null), head(3));
  seen.note(planner("b"), head(3));
  expect(seen.last(planner("b"))).toBe(head(1));
});

test("two sessions at once do not end each other", () => {
  const seen = open();
  seen.note(planner("a"), head(1));
  seen.note(planner("b"), head(2));
  seen.note(planner("a"), head(3));
  seen.note(planner("b"), head(4));
  expect(seen.last(planner("b"))).toBe(head(1));
});

test("what was seen survives a restart, written lazily and for its owner only", async () => {
  const seen = open();
  seen.note(planner("a"), head(3));
  expect(() => statSync(file())).toThrow();
  clock.advance(5_000);
  await seen.flush();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  clock.advance(31 * MINUTE_MS);
  expect(open().last(planner())).toBe(head(3));
});

test("a file that can't be read is reported and begun anew", async () => {
  const seen = open();
  seen.note(planner(), head(3));
  await seen.flush();
  writeFileSync(file(), readFileSync(file(), "utf8").slice(0, 20));
  expect(open().last(planner())).toBeNull();
  expect(log).toEqual([expect.stringContaining("can't be read")]);
});
