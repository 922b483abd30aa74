import { expect, test } from "vitest";
import { agentIdOf, memoryId } from "../../../src/domain/identity.ts";
import { NOTE_TYPES } from "../../../src/domain/note.ts";
import { readNoteFile } from "../../../src/domain/note-file.ts";
import { memoryPath } from "../../../src/domain/note-path.ts";

const types = new Set(Object.keys(NOTE_TYPES));
function read(path: string, block = "") {
  const file = readNoteFile(path, Buffer.from(block === "" ? "value" : `---\n${block}\n---\nvalue`), types);
  if (file.kind === "quarantined") throw new Error(file.reason);
  return { ...file.fields, told: file.disagreements };
}
const NONE = { scope: "workspace", scopeRefId: null, key: null };

test("a file at a memory's path is that memory, with its id, and needs no word of its own", () => {
  const key = { scope: "thread", ref: "T/1", agent: "planner", key: "tone" } as const;
  expect(read(memoryPath(key))).toMatchObject({
    id: memoryId(key),
    scope: "thread",
    scopeRefId: "T/1",
    key: "tone",
    agentName: "planner",
    agentId: agentIdOf("planner"),
    told: [],
  });
});

test("words that agree give names in full: an agent's as it writes itself, and what the path has cut", () => {
  const long = "long key ".repeat(40);
  const key = { scope: "agent", ref: null, agent: "Planner", key: long } as const;
  expect(read(memoryPath(key), `key: "${long}"\nagent_name: Planner\nscope: agent`)).toMatchObject({
    id: memoryId(key),
    key: long,
    agentName: "Planner",
    told: [],
  });
});

test.each([
  ["key: other", ["key"]],
  ["scope: person", ["scope"]],
  ["scope: global", ["scope"]],
  ["scope_ref_id: T-1", ["scope_ref_id"]],
  ["agent_name: coder", ["agent_name"]],
  ["agent_id: 57", ["agent_id"]],
  ["id: mem_aaaaaaaaaaaaaaaaaaaa", ["id"]],
  ["id: mine", ["id"]],
  ["key: [a]", ["key"]],
  ["key: other\nscope: workspace", ["scope", "key"]],
] as const)("%j in an agent's memory is told, and the path counts", (block, keys) => {
  const path = "memory/agents/planner/tone.md";
  const found = read(path, block);
  expect(found).toMatchObject({
    id: memoryId({ scope: "agent", ref: null, agent: "planner", key: "tone" }),
    scope: "agent",
    scopeRefId: null,
    key: "tone",
    agentName: "planner",
    agentId: agentIdOf("planner"),
  });
  expect(found.told.map((sentence) => sentence.split(" ")[0])).toEqual(keys);
});

test("workspace memory has no agent, whatever it says", () => {
  const found = read("memory/workspace/tone.md", "agent_name: planner\nkey: tone");
  expect(found).toMatchObject({ scope: "workspace", key: "tone", agentName: null, agentId: null });
  expect(found.told).toHaveLength(1);
});

test("a long name that the file has lost is told, and the memory has the id of a file", () => {
  const path = memoryPath({ scope: "workspace", ref: null, agent: null, key: "k".repeat(300) });
  const found = read(path, "doi: 1");
  expect(found).toMatchObject({ id: null, scope: "workspace", key: `${"k".repeat(80)}…` });
  expect(found.told).toEqual([expect.stringContaining("a part of a long name")]);
  const hidden = {
    scope: "workspace",
    ref: null,
    agent: null,
    key: `__feedback__${"记".repeat(60)}`,
  } as const;
  expect(read(memoryPath(hidden)).key).toMatch(/^__feedback__记+…$/);
});

test.each([
  "memory/workspace/My Key.md",
  "memory/agents/Planner/tone.md",
  "memory/threads/T1/planner/tone.md",
  "memory/workspace/.hidden.md",
])("%s is at no memory's path: an ordinary note, and told", (path) => {
  const found = read(path, "key: tone\nid: note_1");
  expect(found).toMatchObject({ ...NONE, id: "note_1", extra: { key: "tone" } });
  expect(found.told[0]).toContain("ordinary note");
});

test.each(["memory/readme.md", "memory/workspace/a/b.md", "memory/elsewhere/a.md"])(
  "%s is a person's own file",
  (path) => {
    expect(read(path)).toMatchObject({ ...NONE, id: null, told: [] });
  },
);

test.each([
  ["scope: agent\nkey: tone\nagent_name: planner", { scope: "agent", key: "tone" }, "scope says"],
  ["scope: thread\nscope_ref_id: T-1", { scope: "thread", scope_ref_id: "T-1" }, "scope says"],
  ["scope: workspace\nkey: tone", { key: "tone" }, "key says"],
  ["id: mem_aaaaaaaaaaaaaaaaaaaa", { id: "mem_aaaaaaaaaaaaaaaaaaaa" }, "id says"],
])("a typed note that says %j is no memory: its words are kept and told", (block, extra, told) => {
  const found = read("notes/a.md", block);
  expect(found).toMatchObject({ ...NONE, id: null, extra });
  expect(found.told).toEqual([expect.stringContaining(told)]);
});

test("a key of another tool's in a typed note is an extra key, as it is written", () => {
  expect(read("notes/a.md", "key: 00123")).toMatchObject({ ...NONE, extra: { key: "00123" }, told: [] });
});
