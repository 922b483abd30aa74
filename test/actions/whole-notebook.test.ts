/** Actions on a whole notebook over a store in memory: what a caller is promised, end to end but for the door. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ada, caller, coder, planner } from "../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const as = (principal: typeof ada | typeof planner) => caller(opened.notebook, principal);
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test("a note lives from create to delete, and history tells it", async () => {
  const { call, fails } = as(planner);
  const created = await call("notes.create", {
    title: "A: b #1",
    content: "one\n",
    tags: ["x", "y", "x"],
    "extra.doi": "10.1/x",
  });
  const { note_id } = created;
  expect(await call("notes.read", { note_id })).toMatchObject({
    content: "one\n",
    metadata: {
      title: "A: b #1",
      tags: ["x", "y"],
      extra: { doi: "10.1/x" },
      agent_name: "planner",
      trust: "agent",
    },
  });
  const updated = await call("notes.update", {
    note_id,
    status: "resolved",
    if_revision: created["revision"],
    reason: "done",
  });
  expect(updated).toMatchObject({ changed: true, merged: false });
  expect(await call("notes.update", { note_id, status: "resolved" })).toMatchObject({
    changed: false,
    commit: updated["commit"],
  });
  expect(
    await fails("notes.update", { note_id, content: "x", if_revision: created["revision"] }),
  ).toMatchObject({
    code: "CONFLICT",
    data: { revision: updated["revision"] },
  });
  await call("notes.append", { note_id, content: "two\n" });
  expect(await fails("notes.edit", { note_id, old_str: "o", new_str: "0" })).toMatchObject({
    code: "CONFLICT",
    data: { reason: "many_matches", count: 2 },
  });
  await call("notes.edit", { note_id, old_str: "two", new_str: "three" });
  expect(await call("notes.read", { note_id })).toMatchObject({ content: "one\nthree\n" });
  expect(await call("notes.read", { note_id, at: created["commit"] })).toMatchObject({ content: "one\n" });
  const deleted = await call("notes.delete", { note_id });
  expect(deleted).toMatchObject({ note_id, title: "A: b #1" });
  expect(await fails("notes.read", { note_id })).toMatchObject({
    code: "NOT_FOUND",
    data: { deleted_in: deleted["commit"] },
  });
  const { entries } = (await call("notes.history", { note_id })) as {
    entries: { action: string; reason: string | null }[];
  };
  expect(entries.map(({ action }) => action)).toEqual(["delete", "edit", "append", "update", "create"]);
  expect(entries[3]).toMatchObject({
    reason: "done",
    changes: expect.stringContaining("status: open → resolved"),
  });
});

test("a repeated request takes effect once, whoever else uses the key, and not with other parameters", async () => {
  const { call, fails } = as(planner);
  const params = { title: "t", content: "c", idempotency_key: "k" };
  const first = await call("notes.create", params);
  expect(await call("notes.create", params)).toEqual({
    note_id: first["note_id"],
    path: first["path"],
    revision: first["revision"],
    commit: first["commit"],
    replayed: true,
  });
  expect((await fails("notes.create", { ...params, title: "u" })).code).toBe("IDEMPOTENCY_MISMATCH");
  expect((await as(coder).call("notes.create", params))["note_id"]).not.toBe(first["note_id"]);
  const gone = { note_id: first["note_id"], idempotency_key: "d" };
  const deleted = await call("notes.delete", gone);
  expect(await call("notes.delete", gone)).toEqual({
    note_id: first["note_id"],
    path: null,
    revision: null,
    commit: deleted["commit"],
    replayed: true,
  });
});

test("only the author or a person deletes", async () => {
  const { note_id } = await as(planner).call("notes.create", { title: "t", content: "c" });
  expect((await as(coder).fails("notes.delete", { note_id })).code).toBe("FORBIDDEN");
  expect((await as(coder).call("notes.append", { note_id, content: "by coder" }))["changed"]).toBe(true);
  expect((await as(coder).fails("notes.delete", { note_id })).code).toBe("FORBIDDEN");
  expect(await as(ada).call("notes.delete", { note_id })).toMatchObject({ title: "t" });
});

test("pages of list follow each other when bytes end them early", async () => {
  const { call } = as(planner);
  const pad = "p".repeat(9000);
  await Promise.all(
    Array.from({ length: 130 }, (_, n) =>
      call("notes.create", { title: `n${n}`, content: "", extra: { pad } }),
    ),
  );
  const seen = new Set<string>();
  let pages = 0;
  for (let cursor: unknown = null; ; ) {
    const page = await call("notes.list", { limit: 1000, ...(cursor ? { cursor } : {}) });
    pages++;
    expect(bytes(page)).toBeLessThan(950_000);
    for (const note of page["notes"] as { note_id: string }[]) seen.add(note.note_id);
    cursor = page["next_cursor"];
    if (!cursor) break;
  }
  expect([seen.size, pages]).toEqual([130, 2]);
});

test("changes since a commit, and last since the caller's own last session", async () => {
  const { call } = as(planner);
  const first = await call("notes.create", { title: "one", content: "" });
  await call("notes.create", { title: "two", content: "" });
  const changes = await call("notes.changes", { since: first["commit"] });
  expect(changes).toMatchObject({ more: false, changes: [{ title: "two", source: "api", via: "live" }] });
  expect(await call("notes.changes", { since: changes["cursor"] })).toMatchObject({ changes: [] });
});

test("a filter by a name that is no agent is empty, and one that can be none is refused", async () => {
  const { call, fails } = as(planner);
  await call("notes.create", { title: "t", content: "" });
  expect(await call("notes.list", { filter_agent_id: "nobody" })).toMatchObject({ total: 0 });
  expect(await call("notes.list", { filter_agent_id: "all" })).toMatchObject({ total: 1 });
  for (const name of ["057", " 57", "-1", ""]) {
    expect((await fails("notes.list", { filter_agent_id: name })).code).toBe("INVALID_PARAMS");
  }
});

test("extra keys of ours and types that are none are refused, and nothing is written", async () => {
  const { fails } = as(planner);
  expect(
    (await fails("notes.create", { title: "t", content: "", extra: { title: "x" } })).data["issues"],
  ).toMatchObject([{ path: "extra.title" }]);
  expect((await fails("notes.create", { title: "t", content: "", folder: "../x" })).code).toBe(
    "INVALID_PARAMS",
  );
  expect((await fails("notes.create", { title: "t", content: "x".repeat(300_000) })).code).toBe("TOO_LARGE");
  expect(await opened.store.tip()).toBeNull();
});

test("the seven calls of notes.run, and its literal search of title and body", async () => {
  const { call } = as(planner);
  const run = (params: object): Promise<unknown> => call("notes.run", params);
  const id = await run({
    action: "create",
    title: "重构项目",
    content: "数据库连接超时",
    note_type: "task_state",
    tags: ["标签"],
  });
  expect(await run({ action: "read", note_id: id })).toMatchObject({
    metadata: { id },
    content: "数据库连接超时",
  });
  expect(await run({ action: "search", query: "连接超" })).toMatchObject([{ note_id: id }]);
  expect(await run({ action: "search", query: "标签" })).toEqual([]);
  expect(await run({ action: "update", note_id: id, title: "新" })).toBe("Note updated: 新");
  expect(await run({ action: "list" })).toMatchObject([
    { id, title: "新", file_path: expect.stringMatching(/^notes\//) },
  ]);
  expect(await run({ action: "summary" })).toMatchObject({ total_notes: 1, recent_notes: [{ id }] });
  expect(await run({ action: "delete", note_id: id })).toBe("Note deleted: 新");
});

test("status and verify say that all is well", async () => {
  await as(planner).call("notes.create", { title: "t", content: "" });
  expect(await as(planner).call("daemon.status")).toMatchObject({
    branch: "main",
    state: "ok",
    notes: 1,
    quarantined: [],
  });
  expect(await as(ada).call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
});
