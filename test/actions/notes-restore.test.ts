import { afterEach, beforeEach, expect, test } from "vitest";
import { ada, caller, coder, planner } from "../support/call.ts";
import { type FakeClock, fakeClock } from "../support/fake-clock.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

const HOUR_MS = 3_600_000;
let opened: TestNotebook;
let clock: FakeClock;
beforeEach(async () => {
  clock = fakeClock();
  opened = await openTestNotebook({ clock });
});
afterEach(() => opened.dispose());

const as = (principal: typeof ada | typeof planner) => caller(opened.notebook, principal);
const textOf = (path: unknown) => opened.store.person.text(String(path));

async function blocker(): Promise<{ note_id: string; path: string; commit: string; bytes: string }> {
  const made = await as(planner).call("notes.create", {
    title: "Login returns 500",
    content: "one\n",
    note_type: "blocker",
    tags: ["auth"],
    "extra.doi": "10.1/x",
  });
  clock.advance(HOUR_MS);
  const { note_id, path, commit } = made;
  return { note_id: String(note_id), path: String(path), commit: String(commit), bytes: textOf(path) ?? "" };
}

const undated = (text: string | null) => text?.replace(/^updated_at: .*$/m, "updated_at:");

test("old content and metadata come back as a new revision, dated now, and history says restore", async () => {
  const { note_id, path, commit, bytes } = await blocker();
  const { call } = as(coder);
  await call("notes.update", { note_id, content: "two\n", title: "Other", tags: ["x"], status: "resolved" });
  clock.advance(HOUR_MS);
  const done = await call("notes.restore", { note_id, at: commit, reason: "closed too early" });
  expect(done).toMatchObject({
    note_id,
    changed: true,
    merged: false,
    updated_at: "2026-11-30T12:15:00.000Z",
  });
  expect(undated(textOf(path))).toBe(undated(bytes));
  expect(await call("notes.read", { note_id })).toMatchObject({
    content: "one\n",
    metadata: {
      title: "Login returns 500",
      tags: ["auth"],
      status: "open",
      extra: { doi: "10.1/x" },
      agent_name: "planner",
      revision: done["revision"],
      updated_at: done["updated_at"],
    },
  });
  const { entries } = (await call("notes.history", { note_id, limit: 1 })) as { entries: object[] };
  expect(entries).toMatchObject([
    {
      action: "restore",
      agent_name: "coder",
      reason: "closed too early",
      changes: expect.stringContaining("status: resolved → open"),
    },
  ]);
  const changes = await call("notes.changes", { since: commit });
  expect(changes).toMatchObject({
    changes: [{ action: "update" }, { action: "restore", title: "Login returns 500" }],
  });
});

test("restoring what is there already is no change, and a repeated request takes effect once", async () => {
  const { note_id, commit } = await blocker();
  const { call, fails } = as(planner);
  expect(await call("notes.restore", { note_id, at: commit })).toMatchObject({ changed: false, commit });
  await call("notes.update", { note_id, content: "two\n" });
  const params = { note_id, at: commit, idempotency_key: "k" };
  const first = await call("notes.restore", params);
  expect(first).toMatchObject({ changed: true });
  expect(await call("notes.restore", params)).toMatchObject({ commit: first["commit"], replayed: true });
  expect((await fails("notes.restore", { ...params, reason: "x" })).code).toBe("IDEMPOTENCY_MISMATCH");
});

test("a deleted note comes back at its path with its id, author and age, for its author or a person alone", async () => {
  const { note_id, path, commit, bytes } = await blocker();
  const deleted = await as(planner).call("notes.delete", { note_id });
  expect((await as(coder).fails("notes.restore", { note_id, at: commit })).code).toBe("FORBIDDEN");
  expect(await as(ada).fails("notes.restore", { note_id, at: deleted["commit"] })).toMatchObject({
    code: "NOT_FOUND",
    data: { deleted_in: deleted["commit"], last_commit: commit },
  });
  clock.advance(HOUR_MS);
  await as(ada).call("notes.restore", { note_id, at: commit });
  expect(undated(textOf(path))).toBe(undated(bytes));
  expect(await as(coder).call("notes.read", { note_id })).toMatchObject({
    metadata: { path, agent_name: "planner", trust: "person", created_at: "2026-11-30T10:15:00.000Z" },
  });
  expect(await as(ada).call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  expect(await as(coder).call("notes.append", { note_id, content: "go on\n" })).toMatchObject({
    changed: true,
  });
  await as(planner).call("notes.delete", { note_id });
  expect(await as(planner).call("notes.restore", { note_id, at: commit })).toMatchObject({ changed: true });
});

test("a deleted file without id comes back under the id it had", async () => {
  const { person } = opened.store;
  const made = person.commit({ "notes/plan.md": "# Plan\n" });
  person.commit({ "notes/plan.md": null });
  await opened.disk.headMoved();
  const { note_id } = await as(ada).call("notes.restore", { note_id: "plan", at: made });
  expect(note_id).toMatch(/^f_/);
  expect(textOf("notes/plan.md")).toBe("# Plan\n");
  expect(await as(ada).call("notes.read", { note_id: "plan" })).toMatchObject({ metadata: { note_id } });
});

test("a path that another note has by now is a conflict, and nothing is written", async () => {
  const { person } = opened.store;
  const made = person.commit({ "notes/plan.md": "---\nid: first\n---\nold\n" });
  person.commit({ "notes/plan.md": "---\nid: second\n---\nnew\n" });
  await opened.disk.headMoved();
  const before = await opened.store.tip();
  expect(await as(ada).fails("notes.restore", { note_id: "first", at: made })).toMatchObject({
    code: "CONFLICT",
    data: { reason: "path_taken", path: "notes/plan.md" },
  });
  expect(await opened.store.tip()).toBe(before);
});

test("a file of nobody's at the old path is a conflict too", async () => {
  const { note_id, path, commit } = await blocker();
  await as(planner).call("notes.delete", { note_id });
  opened.store.person.save(path, "mine\n");
  await as(planner)
    .call("notes.restore", { note_id, at: commit })
    .catch((error: { code: string }) => {
      expect(error.code).toBe("CONFLICT");
    });
  await opened.notebook.settle();
  expect(textOf(path)).toContain("mine");
});

test("a note that was moved goes back to its old path and stays one note", async () => {
  const { note_id, path, commit, bytes } = await blocker();
  const moved = "notes/auth.md";
  opened.store.person.commit({ [path]: null, [moved]: bytes });
  opened.store.person.commit({ [moved]: bytes.replace("one", "two") });
  await opened.disk.headMoved();
  expect(await as(ada).call("notes.read", { note_id })).toMatchObject({ metadata: { path: moved } });
  await as(ada).call("notes.restore", { note_id, at: commit });
  expect(await as(ada).call("notes.read", { note_id })).toMatchObject({
    content: "one\n",
    metadata: { path, agent_name: "planner" },
  });
  expect(textOf(moved)).toBeNull();
  const { entries } = (await as(ada).call("notes.history", { note_id, limit: 1 })) as { entries: object[] };
  expect(entries).toMatchObject([{ action: "restore", revision: expect.any(String) }]);
  expect(await as(ada).call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
});

test("the way out of a note whose file can't be read", async () => {
  const { note_id, path, commit } = await blocker();
  opened.store.person.commit({ [path]: "---\n{bad\n---\nx\n" });
  await opened.disk.headMoved();
  const broken = String(await opened.store.tip());
  const { entries } = (await as(ada).call("notes.history", { limit: 1 })) as {
    entries: { note_id: string }[];
  };
  const shownAs = entries[0]?.note_id;
  expect((await as(ada).fails("notes.update", { note_id: shownAs, status: "open" })).code).toBe(
    "INVALID_NOTE",
  );
  expect((await as(ada).fails("notes.restore", { note_id: shownAs, at: broken })).code).toBe("INVALID_NOTE");
  expect((await as(coder).fails("notes.restore", { note_id, at: commit })).code).toBe("FORBIDDEN");
  await as(ada).call("notes.restore", { note_id, at: commit });
  expect(await as(ada).call("notes.read", { note_id })).toMatchObject({ content: "one\n" });
});

test("another agent restores text, not a pin or an expiry; an expiry that has passed is left out", async () => {
  const { note_id, commit } = await blocker();
  await as(planner).call("notes.update", { note_id, pinned: true });
  expect((await as(coder).fails("notes.restore", { note_id, at: commit })).code).toBe("FORBIDDEN");
  const { commit: dated } = await as(planner).call("notes.update", {
    note_id,
    pinned: false,
    expires_in_hours: 1,
  });
  clock.advance(2 * HOUR_MS);
  expect((await as(planner).fails("notes.read", { note_id })).code).toBe("NOT_FOUND");
  await as(planner).call("notes.restore", { note_id, at: dated });
  expect(await as(coder).call("notes.read", { note_id })).toMatchObject({ metadata: { expires_at: null } });
});
