/** What an opened notebook tells of its writes: subscriptions, and `since` in every form. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import type { Changed, Listener } from "../../../src/notebook/notebook.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";
import { until } from "../../support/wait.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const create = (title: string, noteType = "general"): Change => ({
  kind: "create",
  title,
  content: "text",
  noteType,
  tags: [],
  extra: {},
  pinned: false,
  expiresInHours: null,
  folder: null,
});
const write = (change: Change, reason: string | null = null) =>
  opened.notebook.write({ change, reason, idempotency: null }, agent("planner"));

test("a write is told to who listens, and read again from its commit's place", async () => {
  const heard: Changed[] = [];
  const listener: Listener = { changed: (c) => void heard.push(c), lagged: () => {}, failed: () => {} };
  const before = await write(create("Before"));
  await opened.notebook.subscribe(listener, { types: ["blocker"] }, null, PERSON);
  const made = await write(create("Login", "blocker"), "it is down");
  await write(create("Beside"));
  await until("the event", () => heard.length > 0);
  expect(heard).toEqual([
    expect.objectContaining({
      commit: made.commit,
      cursor: made.commit,
      action: "create",
      note_id: made.noteId,
      title: "Login",
      type: "blocker",
      agent_name: "planner",
      reason: "it is down",
      source: "api",
      trust: "agent",
      via: "live",
    }),
  ]);
  const page = await opened.notebook.changes(before.commit, 10, { types: ["blocker"] }, PERSON);
  expect(JSON.stringify(page.changes)).toBe(JSON.stringify(heard));
  expect(page).toMatchObject({ more: false, squashed: false });
  expect((await opened.notebook.changes(page.cursor, 10, {}, PERSON)).changes).toEqual([]);
});

test("since takes a time, last, and enough digits of a commit", async () => {
  const first = await write(create("First"));
  const second = await write(create("Second"));
  const titles = async (since: string) =>
    (await opened.notebook.changes(since, 10, {}, PERSON)).changes.map((c) => c.title);
  expect(await titles(first.commit.slice(0, 10))).toEqual(["Second"]);
  expect(await titles(second.commit)).toEqual([]);
  expect((await titles("2001-01-01")).sort()).toEqual(["First", "Second"]);
  expect((await titles("last")).sort()).toEqual(["First", "Second"]);
});

test("digits of no commit are told where to go on from", async () => {
  const { commit } = await write(create("First"));
  await expect(opened.notebook.changes("abcdef01", 10, {}, PERSON)).rejects.toMatchObject({
    code: "UNKNOWN_COMMIT",
    data: { resync_from: commit },
  });
});
