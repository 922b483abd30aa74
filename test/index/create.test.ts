import { expect, test } from "vitest";
import type { RepoPath } from "../../src/domain/note.ts";
import { createNoteIndex, restoreNoteIndex } from "../../src/index/create.ts";
import type { NoteIndex } from "../../src/index/note-index.ts";
import { HistoryBuilder, provedAs } from "../support/history-builder.ts";
import { bytesOf } from "../support/index-bytes.ts";
import { stateOfIndex } from "../support/index-state.ts";

const FILES = {
  "notes/plain.md": "# Release plan\n\nShip on Friday.",
  "notes/full.md":
    '---\nid: note_20261130_101500_k3vq7a\ntitle: "a: b"\ntype: blocker\ntags: [auth, urgent]\nstatus: resolved\npinned: true\n' +
    "created_at: 2026-11-30T10:15:00.000Z\nupdated_at: 2026-11-30T11:00:00.000Z\n" +
    "doi: 10.1/x\nnested: {a: [1, 2.10, null, .inf]}\n---\n\nbody \u{1f600}\r\n",
  "notes/odd-type.md": "---\ntype: recipe\n---\nSoup",
  "notes/bad.md": "---\ntitle: a: b: c\n---\nlost treasure",
  "notes/dup.md": "---\na: 1\na: 2\n---\n",
  "memory/agents/planner/color.md": "---\nkey: color\nscope: agent\nagent_name: Planner\n---\nblue",
  "memory/workspace/tone.md": "---\nkey: tone\n---\ncalm",
};

async function made(types?: string[]): Promise<{ index: NoteIndex; builder: HistoryBuilder }> {
  const builder = new HistoryBuilder();
  const proved = provedAs({ action: "create", agent: "coder", agentId: 8 });
  const head = builder.change(null, FILES, { proved });
  const index = createNoteIndex(types ? { types } : {});
  await index.rebuild(builder.history(null, head), builder.read);
  return { index, builder };
}

test("real note files become notes with what they say, or are quarantined with a reason", async () => {
  const { index } = await made();
  const at = (path: string) => index.get(index.idAt(path as RepoPath) ?? "");
  expect(at("notes/plain.md")).toMatchObject({ title: "Release plan", type: "general", agent_name: "coder" });
  expect(at("notes/full.md")).toMatchObject({
    note_id: "note_20261130_101500_k3vq7a",
    title: "a: b",
    type: "blocker",
    tags: ["auth", "urgent"],
    status: "resolved",
    pinned: true,
    updated_at: "2026-11-30T11:00:00.000Z",
    extra: { doi: "10.1/x" },
  });
  expect(at("notes/odd-type.md")).toMatchObject({ type: "general", extra: { type: "recipe" } });
  expect(index.quarantined().map(({ path, reason }) => [path, reason !== ""])).toEqual([
    ["notes/bad.md", true],
    ["notes/dup.md", true],
  ]);
});

test("a memory lies in the notebook that its path names, whoever committed it; workspace memory is its creator's", async () => {
  const { index } = await made();
  const at = (path: string) => index.get(index.idAt(path as RepoPath) ?? "");
  expect(at("memory/agents/planner/color.md")).toMatchObject({
    scope: "agent",
    key: "color",
    agent_name: "Planner",
  });
  expect(at("memory/workspace/tone.md")).toMatchObject({
    scope: "workspace",
    key: "tone",
    agent_name: "coder",
  });
});

test("a checkpoint brings back every field of real files, and is refused when the types are others", async () => {
  const { index } = await made();
  const bytes = bytesOf(index);
  const restored = restoreNoteIndex(bytes);
  if (restored === null) throw new Error("refused");
  expect(stateOfIndex(restored)).toEqual(stateOfIndex(index));
  expect(restored.differences(index)).toEqual([]);
  expect(restoreNoteIndex(bytes, { types: ["general", "recipe"] })).toBeNull();
  const { index: other } = await made(["general", "recipe"]);
  expect(other.get("odd-type")?.type).toBe("recipe");
});

test("a checkpoint is refused when the roots are others: what lies under a new one was never folded", async () => {
  const builder = new HistoryBuilder();
  const head = builder.change(null, { "notes/a.md": "a", "docs/b.md": "b", "notes/c.txt": "c" });
  const index = createNoteIndex({ roots: ["notes", "memory"] });
  await index.rebuild(builder.history(null, head), builder.read);
  expect(index.files().map(({ path }) => path)).toEqual(["notes/a.md"]);
  const bytes = bytesOf(index);
  expect(restoreNoteIndex(bytes, { roots: ["memory", "notes"] })?.head).toBe(head);
  for (const roots of [["notes", "memory", "docs"], ["notes"], ["."], []])
    expect(restoreNoteIndex(bytes, { roots })).toBeNull();
  expect(restoreNoteIndex(bytes)).toBeNull();
});
