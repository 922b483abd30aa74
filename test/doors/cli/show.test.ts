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
