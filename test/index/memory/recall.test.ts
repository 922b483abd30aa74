import { expect, test } from "vitest";
import { agentIdOf } from "../../../src/domain/identity.ts";
import type { CommitId, RepoPath } from "../../../src/domain/note.ts";
import { memoryPath } from "../../../src/domain/note-path.ts";
import { createNoteIndex, restoreNoteIndex } from "../../../src/index/create.ts";
import type { NoteIndex, RecallQuery } from "../../../src/index/note-index.ts";
import { HistoryBuilder, provedAs } from "../../support/history-builder.ts";
import { bytesOf } from "../../support/index-bytes.ts";

const byPlanner = provedAs({ action: "save", agent: "planner", agentId: agentIdOf("planner") });
const byCoder = provedAs({ action: "save", agent: "coder", agentId: agentIdOf("coder") });
const at = (scope: "workspace" | "agent", key: string, agent = "planner") =>
  memoryPath({ scope, ref: null, agent: scope === "agent" ? agent : null, key });

const ANY: RecallQuery = {
  key: null,
  prefix: "",
  filter: {},
  viewer: { kind: "person" },
  nowMs: Date.UTC(2026, 11, 1),
  limit: 50,
};
const planner: RecallQuery["viewer"] = { kind: "agent", agentId: agentIdOf("planner") };

function keys(index: NoteIndex, query: Partial<RecallQuery> = {}): (string | null)[] {
  return index.recall({ ...ANY, ...query }).rows.map(({ note }) => note.key);
}

/** Each step is a commit of these files; a minute lies between two. */
async function indexOf(
  ...steps: { files: Record<string, string>; proved?: ReturnType<typeof provedAs> }[]
): Promise<{ index: NoteIndex; builder: HistoryBuilder }> {
  const builder = new HistoryBuilder();
  let head: CommitId | null = null;
  for (const { files, proved } of steps) head = builder.change(head, files, { proved: proved ?? null });
  const index = createNoteIndex();
  if (head) await index.rebuild(builder.history(null, head), builder.read);
  return { index, builder };
}

test("recall gives memory alone, newest first, and each viewer what lies in its sight", async () => {
  const { index } = await indexOf(
    { files: { "notes/a.md": "typed", [at("agent", "own")]: "1" }, proved: byPlanner },
    { files: { [at("agent", "theirs", "coder")]: "2", [at("workspace", "all")]: "3" }, proved: byCoder },
  );
  expect(keys(index).slice(0, 2).sort()).toEqual(["all", "theirs"]);
  expect(keys(index)[2]).toBe("own");
  expect(keys(index, { viewer: planner })).toEqual(["all", "own"]);
  expect(keys(index, { viewer: planner, filter: { agentIds: "all" } })).toHaveLength(3);
  expect(keys(index, { filter: { agentIds: [agentIdOf("coder")] } })).toHaveLength(2);
  expect(keys(index, { filter: { agentIds: [] } })).toEqual([]);
  expect(keys(index, { filter: { scope: "agent" }, viewer: planner })).toEqual(["own"]);
  expect(keys(index, { limit: 1 })).toHaveLength(1);
  expect(index.recall({ ...ANY, limit: 1 }).total).toBe(3);
});

test("a key is found in every notebook in sight, also a long one that its path has cut", async () => {
  const long = "记".repeat(300);
  const { index } = await indexOf({
    files: {
      [at("agent", "k")]: "1",
      [at("agent", "k", "coder")]: "2",
      [at("workspace", "kk")]: "3",
      [at("workspace", long)]: `---\nkey: ${long}\n---\n4`,
    },
  });
  expect(keys(index, { key: "k" })).toEqual(["k", "k"]);
  expect(keys(index, { key: "k", viewer: planner })).toEqual(["k"]);
  expect(keys(index, { key: long })).toEqual([long]);
  expect(keys(index, { key: "nothing" })).toEqual([]);
});

test("pinned comes first, and a pin that came from outside does not", async () => {
  const pinned = "---\npinned: true\n---\nx";
  const { index } = await indexOf(
    { files: { [at("workspace", "agents")]: pinned }, proved: byPlanner },
    { files: { [at("workspace", "plain")]: "x" }, proved: byPlanner },
    { files: { [at("workspace", "strangers")]: pinned } },
  );
  expect(keys(index)).toEqual(["agents", "strangers", "plain"]);
  expect(keys(restored(index))).toEqual(keys(index));
});

test("what has expired and keys that are the program's own are in no recall; those are found by their beginning", async () => {
  const { index } = await indexOf({
    files: {
      [at("workspace", "gone")]: "---\nexpires_at: 2026-11-30T23:59:59.000Z\n---\nx",
      [at("workspace", "__feedback__tone")]: "rule",
      [at("workspace", "__other")]: "x",
      [at("workspace", "stays")]: "x",
    },
  });
  expect(keys(index)).toEqual(["stays"]);
  expect(keys(index, { key: "__other" })).toEqual([]);
  expect(keys(index, { prefix: "__feedback__" })).toEqual(["__feedback__tone"]);
  expect(keys(index, { prefix: "__feedback__", key: "tone" })).toEqual(["__feedback__tone"]);
  expect(keys(index, { prefix: "__feedback__", key: "stays" })).toEqual([]);
  expect(keys(index, { nowMs: Date.UTC(2026, 10, 30) })).toContain("gone");
});

test("files whose words and path disagree are told, also after a warm start", async () => {
  const { index } = await indexOf({
    files: {
      [at("agent", "tone")]: "---\nkey: color\nscope: person\n---\nx",
      [at("workspace", "fine")]: "---\nkey: fine\n---\nx",
      "notes/claims.md": "---\nscope: agent\nkey: tone\nagent_name: planner\n---\nx",
    },
  });
  const told = index.disagreements();
  expect(told.map(({ path }) => path)).toEqual([at("agent", "tone"), "notes/claims.md"]);
  expect(told[0]?.reason).toMatch(/^scope says "person".*; key says "color"/);
  expect(restored(index).disagreements()).toEqual(told);
  expect(keys(index, { viewer: planner })).toEqual(["fine", "tone"]);
});

test("memory that is moved to another path is another memory, and its mover made it", async () => {
  const { index, builder } = await indexOf({
    files: { [at("workspace", "a")]: "same text" },
    proved: byPlanner,
  });
  const moved = builder.change(
    index.head,
    { [at("workspace", "a")]: null, [at("workspace", "b")]: "same text" },
    { proved: byCoder },
  );
  const changes = await index.apply(builder.history(index.head, moved), builder.read);
  expect(changes.map(({ action, path }) => [action, path])).toEqual([
    ["delete", at("workspace", "a")],
    ["save", at("workspace", "b")],
  ]);
  expect(changes.map(({ after }) => after?.key ?? null)).toEqual([null, "b"]);
  expect(index.get(index.idAt(at("workspace", "b") as RepoPath) ?? "")?.agent_name).toBe("coder");
});

function restored(index: NoteIndex): NoteIndex {
  const again = restoreNoteIndex(bytesOf(index));
  if (again === null) throw new Error("the checkpoint was refused");
  return again;
}
