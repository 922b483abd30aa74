import { expect, test } from "vitest";
import type { NoteFilter } from "../../src/domain/filters.ts";
import { agentIdOf } from "../../src/domain/identity.ts";
import type { Viewer } from "../../src/index/note-index.ts";
import { AT_S, indexOf, noteText, PERSON } from "../support/notes-at.ts";

const agent = (name: string): Viewer => ({ kind: "agent", agentId: agentIdOf(name) });
const query = (filter: NoteFilter = {}, viewer: Viewer = PERSON, nowMs = AT_S * 1000) => ({
  filter,
  viewer,
  nowMs,
  limit: 100,
  cursor: null,
});
const soon = new Date((AT_S + 100) * 1000).toISOString();

const MIXED = {
  "notes/typed.md": noteText({ title: "typed", type: "blocker", tags: "x,y" }),
  "memory/agents/planner/k.md": noteText({ title: "own", key: "k", scope: "agent", agent: "planner" }),
  "memory/agents/coder/k.md": noteText({ title: "other", key: "k", scope: "agent", agent: "coder" }),
  "memory/workspace/k.md": noteText({ title: "all", key: "k" }),
  "memory/workspace/__k.md": noteText({ title: "hidden", key: "__k" }),
  "memory/workspace/b.md": noteText({ title: "brief", key: "b", expires_at: soon }),
};

test("notes come newest update first, ties by id, and the total counts all", async () => {
  const { index, put } = await indexOf({ "a.md": "1", "b.md": "2", "c.md": "3" });
  const titles = () => index.list(query()).items.map((note) => note.title);
  expect(titles()).toEqual(["c", "b", "a"]);
  await put({ "a.md": "1 again" }, 10);
  expect(titles()).toEqual(["a", "c", "b"]);
  await put({ "c.md": "x", "b.md": "y" }, 11);
  const [first, second] = index.list(query()).items;
  expect([first?.updated_at, (first?.note_id ?? "") < (second?.note_id ?? "")]).toEqual([
    second?.updated_at,
    true,
  ]);
  expect(index.list({ ...query(), limit: 2 })).toMatchObject({ total: 3, items: { length: 2 } });
});

test("pages neither repeat nor skip a note that stayed as it was while others changed", async () => {
  const files = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`n${i}.md`, `${i}`]));
  const { index, put } = await indexOf(files);
  const page = (cursor: string | null) => index.list({ ...query(), limit: 3, cursor });
  const first = page(null);
  await put({ "n8.md": "moved up", "n4.md": null, "new.md": "new" }, 20);
  const second = page(first.nextCursor);
  const third = page(second.nextCursor);
  expect([first, second, third].flatMap((p) => p.items.map((note) => note.title))).toEqual([
    "n8",
    "n7",
    "n6",
    "n5",
    "n3",
    "n2",
    "n1",
    "n0",
  ]);
  expect(third.nextCursor).toBeNull();
});

test.each(["", "x", "bDEgMQ", "l1 1 a", "AAAA"])(
  "a cursor that is none of ours is refused: %j",
  async (cursor) => {
    const { index } = await indexOf({ "a.md": "1" });
    expect(() => index.list({ ...query(), cursor })).toThrow(
      expect.objectContaining({ code: "INVALID_PARAMS" }),
    );
  },
);

test("an agent sees its own notebook, workspace memory and typed notes; a person everything; hidden keys nobody", async () => {
  const { index } = await indexOf(MIXED);
  const seen = (filter: NoteFilter, viewer: Viewer) =>
    index
      .list(query(filter, viewer))
      .items.map((note) => note.title)
      .sort();
  expect(seen({}, agent("planner"))).toEqual(["all", "brief", "own", "typed"]);
  expect(seen({}, PERSON)).toEqual(["all", "brief", "other", "own", "typed"]);
  expect(seen({ agentIds: "all" }, agent("planner"))).toEqual(["all", "brief", "other", "own", "typed"]);
  expect(seen({ agentIds: [agentIdOf("coder")] }, agent("planner"))).toEqual(["other"]);
  expect(seen({ agentIds: [] }, PERSON)).toEqual([]);
  expect(seen({ tags: ["y", "z"] }, PERSON)).toEqual(["typed"]);
});

test("an expired note is absent from list, search and summary, and get still knows it", async () => {
  const { index } = await indexOf(MIXED);
  const nowMs = Date.parse(soon);
  expect(index.list(query({}, PERSON, nowMs - 1)).total).toBe(5);
  expect(index.list(query({}, PERSON, nowMs)).items.map((note) => note.title)).not.toContain("brief");
  expect(index.summary(PERSON, nowMs).total_notes).toBe(4);
  const search = { query: "brief", mode: "substring", fields: "title-body", limit: 5 } as const;
  expect(index.search({ ...search, filter: {}, viewer: PERSON, nowMs }).total).toBe(0);
  expect(index.get("b")?.title).toBe("brief");
});

test("the summary counts what the viewer sees and names the newest and the open blockers", async () => {
  const { index } = await indexOf(MIXED);
  const summary = index.summary(agent("planner"), AT_S * 1000);
  expect(summary).toMatchObject({
    total_notes: 4,
    type_distribution: { blocker: 1, general: 3 },
    by_status: { open: 4 },
    by_scope: { workspace: 3, agent: 1 },
    by_agent: { planner: 1 },
    open_blockers: [{ title: "typed" }],
  });
  expect(summary.recent_notes.map((note) => note.title)).toEqual(["brief", "all", "own", "typed"]);
});
