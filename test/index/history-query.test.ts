import { expect, test } from "vitest";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { HistoryBuilder, provedAs } from "../support/history-builder.ts";
import { noteText } from "../support/notes-at.ts";
import { plainParse } from "../support/plain-parse.ts";

async function sample() {
  const builder = new HistoryBuilder();
  const index = new MemoryIndex({ parse: plainParse, isNotePath: () => true, fingerprint: "" });
  const by = (agent: string, agentId: number) => provedAs({ agent, agentId, session: `s-${agent}` });
  const one = builder.change(null, {
    "a.md": noteText({ id: "a", type: "blocker", tags: "x" }),
    "b.md": noteText({ id: "b" }),
  });
  const two = builder.change(
    one,
    { "a.md": noteText({ id: "a", type: "blocker" }, "2") },
    { proved: by("planner", 7) },
  );
  const three = builder.change(
    two,
    { "b.md": null },
    { proved: provedAs({ ...by("coder", 8), action: "delete" }) },
  );
  await index.apply(builder.history(null, three), builder.read);
  const a = index.idAt(Object.values(index.files())[0]?.path as never);
  return { builder, index, one, two, three, a };
}

test("rows come newest first and carry who, what and why it may be trusted", async () => {
  const { index, one, two, three } = await sample();
  const { items, total } = index.history({}, 10, null);
  expect(items.map((row) => [row.commit, row.noteId, row.action])).toEqual([
    [three, "b", "delete"],
    [two, "a", "update"],
    [one, "b", "create"],
    [one, "a", "create"],
  ]);
  expect(total).toBe(4);
  expect(items[1]).toMatchObject({
    agentName: "planner",
    agentId: 7,
    session: "s-planner",
    source: "api",
    trust: "agent",
  });
});

test("each filter keeps its rows", async () => {
  const { index, a } = await sample();
  const count = (filter: Parameters<typeof index.history>[0]) => index.history(filter, 10, null).items.length;
  if (a === null) throw new Error("no note");
  expect([
    count({ noteId: a }),
    count({ agentIds: [7] }),
    count({ agentIds: [] }),
    count({ types: ["blocker"] }),
  ]).toEqual([2, 1, 0, 2]);
  expect([count({ tags: ["x"] }), count({ actions: ["delete"] }), count({ sources: ["git"] })]).toEqual([
    1, 1, 2,
  ]);
  expect([
    count({ session: "s-coder" }),
    count({ sinceMs: Date.parse("2027-01-01") }),
    count({ untilMs: 0 }),
  ]).toEqual([1, 0, 0]);
});

test("pages go on where the last ended, also when new commits came in between", async () => {
  const { builder, index, three } = await sample();
  const first = index.history({}, 2, null);
  const next = builder.change(three, { "c.md": "new" });
  await index.apply(builder.history(three, next), builder.read);
  const second = index.history({}, 2, first.nextCursor);
  expect([...first.items, ...second.items].map((row) => row.noteId)).toEqual(["b", "a", "b", "a"]);
  expect(second.nextCursor).toBeNull();
});

test("a cursor into a history that was rewritten says so, and a made-up one is refused", async () => {
  const { builder, index, one } = await sample();
  const { nextCursor } = index.history({}, 1, null);
  await index.apply([], builder.read, one);
  expect(() => index.history({}, 1, nextCursor)).toThrow(expect.objectContaining({ code: "UNKNOWN_COMMIT" }));
  expect(() => index.history({}, 1, "abc.1")).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
});

test("min_trust asks for the class of each row; of a note that expired it is the note's own, and only with a proof", async () => {
  const { builder, index, one, two, three } = await sample();
  const expire = provedAs({ action: "expire", noteIds: ["a"] });
  const four = builder.change(three, { "a.md": null }, { proved: expire });
  const five = builder.change(four, { "c.md": noteText({ id: "c" }) });
  const six = builder.change(five, { "c.md": null }, { proved: expire });
  await index.apply(builder.history(three, six), builder.read);
  const [expired, , of] = index.history({}, 4, null).items;
  expect([expired?.trust, of?.action, of?.trust]).toEqual(["pushed", "expire", "agent"]);
  const commits = (minTrust: "person" | "agent" | "pushed") =>
    index.history({ minTrust }, 10, null).items.map((row) => row.commit);
  expect(commits("person")).toEqual([]);
  expect(commits("agent")).toEqual([four, three, two]);
  expect(commits("pushed")).toEqual([six, five, four, three, two, one, one]);
});
