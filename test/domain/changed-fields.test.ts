import { expect, test } from "vitest";
import { changedFields } from "../../src/domain/changed-fields.ts";
import type { NoteMetadata } from "../../src/domain/note.ts";

const NOTE: NoteMetadata = {
  note_id: "note_20261130_101500_k3vq7a",
  title: "Login",
  type: "blocker",
  tags: ["auth"],
  created_at: "2026-11-30T10:15:00.000Z",
  updated_at: "2026-11-30T10:15:00.000Z",
  status: "open",
  scope: "workspace",
  scope_ref_id: null,
  key: null,
  agent_id: 7,
  agent_name: "planner",
  pinned: false,
  expires_at: null,
  path: "notes/a.md",
  revision: "a".repeat(40),
  trust: "agent",
  extra: { doi: "10.1/x" },
};
const state = (change: Partial<NoteMetadata> = {}, content = "body") => ({
  metadata: { ...NOTE, ...change },
  content,
});

test.each<[string, Partial<NoteMetadata>, string[]]>([
  ["status", { status: "resolved" }, ["status"]],
  ["tags and their order", { tags: ["auth", "x"], title: "L" }, ["title", "tags"]],
  ["a move", { path: "notes/b.md" }, ["path"]],
  ["an extra key by name", { extra: { doi: "10.1/y", b: 1 } }, ["extra.b", "extra.doi"]],
  ["a removed extra key", { extra: {} }, ["extra.doi"]],
  [
    "nothing of what history knows",
    { updated_at: "2027-01-01T00:00:00.000Z", trust: "pushed", revision: "b" },
    [],
  ],
])("%s", (_name, change, fields) => {
  expect(changedFields(state(), state(change))).toEqual(fields);
});

test("a body that differs is content", () => {
  expect(changedFields(state(), state({}, "other"))).toEqual(["content"]);
});

test("a new note has what it says, a deleted one nothing", () => {
  expect(changedFields(null, state())).toEqual(["title", "type", "tags", "extra.doi", "content"]);
  expect(changedFields(state(), null)).toEqual([]);
});

test("a file that stops being readable as a note loses what it said", () => {
  expect(changedFields(state(), { metadata: null, content: "---\nbad" })).toEqual([
    "title",
    "type",
    "tags",
    "extra.doi",
    "content",
  ]);
});

test("a key that objects inherit is a key like another", () => {
  expect(changedFields(state({ extra: {} }), state({ extra: { constructor: "x" } }))).toEqual([
    "extra.constructor",
  ]);
});
