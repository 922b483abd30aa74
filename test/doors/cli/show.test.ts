import { expect, test } from "vitest";
import { show } from "../../../src/doors/cli/show.ts";

const note = (title: string) => ({
  note_id: "note_20261130_101500_k3vq7a",
  title,
  type: "blocker",
  status: "resolved",
  tags: ["认证"],
  updated_at: "2026-11-30T10:15:00.000Z",
});
const list = (columns: number, ...titles: string[]) =>
  show(
    "notes.list",
    { notes: titles.map(note), total: titles.length, next_cursor: null },
    { colour: false, columns },
  );

test("a list in a pipe is cut nowhere", () => {
  expect(list(Number.POSITIVE_INFINITY, "x".repeat(200))).toContain(`${"x".repeat(200)} #认证\n`);
});

test.each([
  [120, ["note", "status", "type", "updated", "title"]],
  [80, ["note", "status", "type", "title"]],
  [70, ["note", "status", "title"]],
  [40, ["note", "title"]],
])("a list in %d columns shows whole ids and stays in its line", (columns, head) => {
  const lines = list(columns, "中文标题：登录失败返回五百错误，登录失败返回五百错误", "x".repeat(200))
    .trimEnd()
    .split("\n");
  expect(lines[0]?.split(/\s+/)).toEqual(head);
  expect(lines).toHaveLength(3);
  for (const line of lines.slice(1)) {
    expect(line).toMatch(/^note_20261130_101500_k3vq7a .*…$/);
    expect(
      [...line].reduce((sum, one) => sum + (/[\p{Script=Han}，：]/u.test(one) ? 2 : 1), 0),
    ).toBeLessThanOrEqual(columns);
  }
});

test.each([
  ["planner", "api", "agent", "planner"],
  [null, "api", "person", "Pat"],
  [null, "disk", "disk", "Pat (disk)"],
  [null, "git", "pushed", "Pat (git)"],
])("who changed a note: %s by %s with trust %s is %s", (agent_name, source, trust, who) => {
  const entry = {
    commit: "0123456789ab",
    note_id: "n",
    action: "update",
    title: "T",
    type: "general",
    at: "2026-11-30T10:15:00Z",
    author_name: agent_name ?? "Pat",
    reason: "first\nsecond",
    changes: "status: open → resolved",
  };
  const shown = show(
    "notes.history",
    { entries: [{ ...entry, agent_name, source, trust }], next_cursor: null },
    { colour: false, columns: 100 },
  );
  expect(shown).toBe(
    `2026-11-30 10:15  ${who}  update(general)  T\n    first\n    second\n    status: open → resolved\n    012345678  n\n`,
  );
});

test("one note is one note", () => {
  const none = {
    type_distribution: {},
    by_status: {},
    by_scope: {},
    by_agent: {},
    recent_notes: [],
    open_blockers: [],
  };
  expect(show("notes.summary", { total_notes: 1, ...none }, { colour: false, columns: 80 })).toBe("1 note\n");
});

/** Titles, text and names that try to move the cursor, to rename the window, to recolour, and to be read backwards. */
const EVIL = "x\u001b]0;owned\u0007\u001b[2J\u009b31m\u202ey\rz\u0008";
const row = {
  ...{
    ...note(EVIL),
    content: EVIL,
    snippet: EVIL,
    score: 1,
    scope: "workspace",
    key: EVIL,
    scope_ref_id: null,
  },
  ...{ agent_id: 1, agent_name: EVIL, author_name: EVIL, trust: "pushed", source: "git", session: EVIL },
  ...{
    commit: "0".repeat(40),
    action: "update",
    reason: `${EVIL}\n${EVIL}`,
    changes: EVIL,
    at: "2026-11-30T10:15",
  },
  ...{ revision: "0".repeat(40), path: `notes/${EVIL}\n.md`, fields: [], via: "push", expires_at: null },
  ...{ created_at: "2026-11-30T10:15", pinned: false, extra: { [EVIL]: EVIL }, type: EVIL, tags: [EVIL] },
};
test.each<[method: string, result: unknown]>([
  ["notes.list", { notes: [row], total: 1, next_cursor: null }],
  ["notes.search", { results: [row], total: 1 }],
  ["notes.read", { metadata: row, content: EVIL }],
  ["notes.history", { entries: [row], next_cursor: null }],
  ["notes.changes", { changes: [row], cursor: "c" }],
  ["notes.recall", { notes: [{ ...row, value: EVIL }] }],
  ["feedback.list", { rules: [{ ...row, rule: EVIL, why: EVIL, how_to_apply: EVIL }] }],
  ["notes.save", { note_id: row.note_id, key: EVIL, commit: row.commit, created: true }],
  ["feedback.delete", { note_id: row.note_id, key: EVIL, commit: row.commit }],
  ["notes.create", { note_id: row.note_id, path: row.path, commit: row.commit }],
  ["notes.delete", { note_id: row.note_id, title: EVIL, commit: row.commit }],
  ["notes.diff", { unified: `--- a/${EVIL}\n+++ b/x\n@@ -1 +1 @@\n-${EVIL}\n+y\n` }],
  ["notes.blame", { lines: [{ line: 1, text: EVIL, commit: row.commit }], commits: [row] }],
  ["notes.links", { out: [EVIL] }],
  [
    "notes.summary",
    {
      ...{
        total_notes: 1,
        type_distribution: { [EVIL]: 1 },
        by_status: {},
        by_scope: {},
        by_agent: { [EVIL]: 1 },
      },
      ...{ recent_notes: [row], open_blockers: [row] },
    },
  ],
  ["daemon.verify", { digest: "d", equal: true, problems: [{ kind: "k", path: EVIL, detail: EVIL }] }],
])("nothing that a note holds reaches the terminal as more than text: %s", (method, result) => {
  const shown = show(method, result, { colour: false, columns: 120 });
  expect(shown).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
  expect(shown).toMatch(/x/);
});

test("a reason of several lines can't pass for another line of what is watched", () => {
  const shown = show("notes.changes", { changes: [row], cursor: "c" }, { colour: false, columns: 120 });
  expect(shown.trimEnd().split("\n")).toHaveLength(2);
});
