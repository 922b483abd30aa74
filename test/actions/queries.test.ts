/** list, search, summary, history, changes and conflicts: filters, limits, pages and the size of answers. */
import { expect, test } from "vitest";
import type { KeptConflict } from "../../src/store/note-store.ts";
import { caller, planner } from "../support/call.ts";
import { FakeNotebook } from "../support/fake-notebook.ts";

async function notebookOf(notes: readonly object[]) {
  const notebook = new FakeNotebook();
  const { call, fails } = caller(notebook);
  for (const note of notes) await call("notes.create", { title: "t", content: "c", ...note });
  return { notebook, call, fails };
}
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test.each([
  ["notes.list", {}],
  ["notes.search", { query: "x" }],
  ["notes.history", {}],
  ["notes.changes", { since: "7d" }],
])(
  "%s lowers a limit over its ceiling and refuses zero, negative and fractional ones",
  async (method, params) => {
    const { call, fails } = await notebookOf([{}]);
    expect(await call(method, { ...params, limit: 1e300 })).toBeDefined();
    for (const limit of [0, -1, 1.5, "5", null]) {
      const error = await fails(method, { ...params, limit });
      expect(error).toMatchObject({ code: "INVALID_PARAMS", data: { issues: [{ path: "limit" }] } });
    }
  },
);

test("extra.KEY is a filter, and an unknown parameter beside it is not", async () => {
  const { call, fails } = await notebookOf([{ extra: { doi: "10.1/x" } }, { extra: { doi: "10.1/y" } }]);
  expect(await call("notes.list", { "extra.doi": "10.1/x" })).toMatchObject({ total: 1 });
  expect(await call("notes.list", { extra: { doi: "10.1/y" } })).toMatchObject({ total: 1 });
  expect((await fails("notes.list", { "exta.doi": "10.1/x" })).data["issues"]).toMatchObject([
    { path: "exta.doi" },
  ]);
});

test("filters take one or several types, tags any of, and global is agent", async () => {
  const { call, notebook } = await notebookOf([
    { note_type: "blocker", tags: ["a"] },
    { note_type: "action" },
    {},
  ]);
  expect(await call("notes.list", { note_type: "blocker" })).toMatchObject({ total: 1 });
  expect(await call("notes.list", { note_type: ["blocker", "action"] })).toMatchObject({ total: 2 });
  expect(await call("notes.list", { tags: ["a", "b"] })).toMatchObject({ total: 1 });
  const first = [...notebook.notes.values()][0];
  if (first) first.metadata.scope = "agent";
  expect(await call("notes.list", { scope: "global" })).toMatchObject({ total: 1 });
});

test("pages follow each other without gap or repeat, also when bytes end them early", async () => {
  const { call } = await notebookOf(
    Array.from({ length: 30 }, (_, n) => ({ extra: { n, pad: "\u0001".repeat(9000) } })),
  );
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await call("notes.list", { limit: 1000, ...(cursor ? { cursor } : {}) });
    expect(bytes(page)).toBeLessThan(950_000);
    expect(page["total"]).toBe(30);
    for (const note of page["notes"] as { extra: { n: number } }[]) seen.push(note.extra.n);
    cursor = page["next_cursor"];
  } while (cursor);
  expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => 29 - n));
});

test("search cuts content at 4,000 characters and says so", async () => {
  const { call } = await notebookOf([{ content: "🙂".repeat(4001) }, { content: "x".repeat(4000) }]);
  const { results } = (await call("notes.search", { query: "t", mode: "substring" })) as {
    results: { content: string; truncated?: true }[];
  };
  expect(results.map((row) => [[...row.content].length, row.truncated])).toEqual([
    [4000, undefined],
    [4000, true],
  ]);
});

test("fifty large hits stay under a million bytes", async () => {
  const { call } = await notebookOf(Array.from({ length: 50 }, () => ({ content: "\u0001".repeat(5000) })));
  const answer = await call("notes.search", { query: "t", limit: 50 });
  expect(answer["results"]).toHaveLength(50);
  expect(bytes(answer)).toBeLessThan(950_000);
});

test("search needs a query or a filter; a blank query is none", async () => {
  const { call, fails } = await notebookOf([{ note_type: "action" }]);
  for (const params of [{}, { query: " " }, { query: "", limit: 5 }]) {
    expect((await fails("notes.search", params)).code).toBe("INVALID_PARAMS");
  }
  expect(await call("notes.search", { note_type: "action" })).toMatchObject({ total: 1 });
  expect(await call("notes.search", { scope_ref_id: "r" })).toMatchObject({ total: 0 });
});

test("semantic search names the setting it lacks", async () => {
  expect(await caller().fails("notes.search", { query: "x", mode: "semantic" })).toMatchObject({
    code: "NOT_CONFIGURED",
    data: { setting: "embedder" },
  });
});

test("a row of search has exactly the members that were promised", async () => {
  const { call } = await notebookOf([{}]);
  const { results } = (await call("notes.search", { query: "t" })) as { results: object[] };
  expect(Object.keys(results[0] ?? {})).toEqual(
    "note_id title type status tags content updated_at score snippet key scope agent_id agent_name trust".split(
      " ",
    ),
  );
});

test("history of a note tells who, when and why, and of an unknown note that there is none", async () => {
  const { call, fails, notebook } = await notebookOf([{ reason: "first" }]);
  const [note_id] = [...notebook.notes.keys()];
  await call("notes.update", { note_id, content: "d", reason: "second" });
  const { entries } = (await call("notes.history", { note_id })) as { entries: object[] };
  expect(entries).toMatchObject([
    { action: "update", reason: "second", agent_name: "planner", source: "api" },
    { action: "create", reason: "first" },
  ]);
  expect((await fails("notes.history", { note_id: "../x" })).code).toBe("NOT_FOUND");
  await call("notes.delete", { note_id });
  expect((await call("notes.history", { note_id }))["entries"]).toHaveLength(3);
});

test("changes go on from their own cursor", async () => {
  const { call } = await notebookOf([{ title: "a" }, { title: "b" }, { title: "c" }]);
  const first = await call("notes.changes", { since: "7d", limit: 2 });
  expect(first).toMatchObject({ more: true, changes: [{ title: "a" }, { title: "b" }] });
  const rest = await call("notes.changes", { since: first["cursor"] });
  expect(rest).toMatchObject({ more: false, changes: [{ title: "c" }] });
});

test("conflicts give the texts of all sides, cut when they would not fit", async () => {
  const { notebook, call } = await notebookOf([{}]);
  // Brands of ids stand for what a store would have given.
  const kept = {
    note_id: "n",
    path: "n.md",
    base: null,
    ours: "a",
    theirs: "b",
    since: "2026-11-30T10:00:00.000Z",
  } as unknown as KeptConflict;
  notebook.keptConflicts.push(kept);
  notebook.blobs.set("a", "ours").set("b", "theirs");
  expect(await call("notes.conflicts")).toEqual({
    conflicts: [{ note_id: "n", ours: "ours", theirs: "theirs", base: null, since: kept.since }],
  });
  notebook.blobs.set("b", "\u0001".repeat(250_000));
  const answer = await call("notes.conflicts", { note_id: "n" });
  expect(answer["conflicts"]).toMatchObject([{ truncated: true }]);
  expect(bytes(answer)).toBeLessThan(950_000);
});

test("subscriptions and sessions need a connection, and say so", async () => {
  const { fails } = caller(new FakeNotebook(), planner);
  for (const [method, params] of [
    ["notes.subscribe", {}],
    ["notes.unsubscribe", { subscription_id: "1" }],
    ["session.set", { session: "s" }],
  ] as const) {
    const error = await fails(method, params);
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.message).toContain("WebSocket");
  }
});
