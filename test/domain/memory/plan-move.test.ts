import { expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import { blobIdOf, memoryId } from "../../../src/domain/identity.ts";
import { NOTE_TYPES, type NoteId, type RepoPath } from "../../../src/domain/note.ts";
import { readNoteFile } from "../../../src/domain/note-file.ts";
import { memoryPath } from "../../../src/domain/note-path.ts";
import { type CurrentNote, type PlanContext, plan } from "../../../src/domain/plan.ts";

const types = new Set(Object.keys(NOTE_TYPES));
const context: PlanContext = {
  nowMs: Date.UTC(2026, 10, 30, 10, 15),
  types,
  maxNoteBytes: 10_000,
  newId: () => "note_1" as NoteId,
  newPath: () => "notes/1.md" as RepoPath,
  baseBytes: null,
};

const OLD = { scope: "agent", ref: null, agent: "Planner", key: "a" } as const;
const MOVE: Extract<Change, { kind: "move" }> = { ...OLD, kind: "move", noteId: memoryId(OLD), key: "b/c" };
const NEW = { ...OLD, key: "b/c" };

function fileOf(content: string): CurrentNote {
  const bytes = Buffer.from(content);
  const [noteId, path] = [memoryId(OLD), memoryPath(OLD)];
  return { noteId, path, revision: blobIdOf(bytes), bytes, title: "a", type: "general" };
}

const FILE = `---
id: ${memoryId(OLD)}
type: general
tags: [kept]
created_at: 2026-11-29T08:00:00.000Z
updated_at: 2026-11-29T08:00:00.000Z
scope: agent
key: a
agent_name: Planner
pinned: true   # by hand
expires_at: 2027-01-01T00:00:00.000Z
doi: "10.1"
---

text
`;

test("a memory goes to its new path with all that it says but its names", () => {
  const current = fileOf(FILE);
  const planned = plan(MOVE, current, context);
  expect(planned).toMatchObject({
    action: "save",
    noteId: memoryId(NEW),
    path: memoryPath(NEW),
    expected: null,
    title: "b/c",
    changes: "key: a → b/c",
    noop: false,
    leaves: { path: current.path, revision: current.revision },
  });
  const made = Buffer.from(planned.bytes ?? []).toString();
  expect(made).toBe(
    FILE.replace(memoryId(OLD), memoryId(NEW))
      .replace("key: a", "key: b/c")
      .replace("updated_at: 2026-11-29T08:00:00.000Z", "updated_at: 2026-11-30T10:15:00.000Z"),
  );
  expect(readNoteFile(planned.path, planned.bytes ?? new Uint8Array(), types)).toMatchObject({
    kind: "note",
    disagreements: [],
    fields: { id: memoryId(NEW), key: "b/c", agentName: "Planner", pinned: true },
  });
});

test("a file that names nothing itself is the same file at another path", () => {
  const current = fileOf("only text\n");
  const planned = plan(MOVE, current, context);
  expect(Buffer.from(planned.bytes ?? []).toString()).toBe("only text\n");
  expect(planned.path).toBe(memoryPath(NEW));
});

test("what has expired at the new path gives way", () => {
  const givesWay = blobIdOf(Buffer.from("old"));
  expect(plan(MOVE, fileOf(FILE), { ...context, givesWay }).expected).toBe(givesWay);
});

test("a name that no memory may have is refused, and a file that can't be read is not moved", () => {
  const refused = (code: string) => expect.objectContaining({ code });
  expect(() => plan({ ...MOVE, key: "__x" }, fileOf(FILE), context)).toThrow(refused("INVALID_PARAMS"));
  expect(() => plan({ ...MOVE, key: "a\nb" }, fileOf(FILE), context)).toThrow(refused("INVALID_PARAMS"));
  expect(() => plan(MOVE, fileOf("---\na: [\n---\n"), context)).toThrow(refused("INVALID_NOTE"));
  expect(() => plan(MOVE, null, context)).toThrow(refused("NOT_FOUND"));
});
