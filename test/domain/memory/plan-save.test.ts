import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import { blobIdOf, memoryId } from "../../../src/domain/identity.ts";
import { NOTE_TYPES, type NoteId, type RepoPath } from "../../../src/domain/note.ts";
import { readNoteFile } from "../../../src/domain/note-file.ts";
import { memoryPath } from "../../../src/domain/note-path.ts";
import { type CurrentNote, type PlanContext, plan } from "../../../src/domain/plan.ts";

const types = new Set(Object.keys(NOTE_TYPES));
const START_MS = Date.UTC(2026, 10, 30, 10, 15);
const HOUR_MS = 3_600_000;
const at = (nowMs: number): PlanContext => ({
  nowMs,
  types,
  maxNoteBytes: 10_000,
  newId: () => "note_1" as NoteId,
  newPath: () => "notes/1.md" as RepoPath,
  baseBytes: null,
});

type Save = Extract<Change, { kind: "save" }>;
const SAVE: Save = {
  kind: "save",
  key: "color",
  value: "blue",
  scope: "agent",
  ref: null,
  agent: "Planner",
  pinned: false,
  expiresInHours: null,
};
const save = (wish: Partial<Save>): Save => ({ ...SAVE, ...wish });
const text = (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString();
const PATH = "memory/agents/planner/color.md" as RepoPath;

function fileAt(path: RepoPath, content: string): CurrentNote {
  const bytes = Buffer.from(content);
  return { noteId: memoryId(SAVE), path, revision: blobIdOf(bytes), bytes, title: "color", type: "general" };
}
/** The memory that a save leaves. */
function after(change: Save, nowMs = START_MS, current: CurrentNote | null = null): CurrentNote {
  const { path, bytes } = plan(change, current, at(nowMs));
  return fileAt(path, text(bytes));
}
function read({ path, bytes }: CurrentNote) {
  const file = readNoteFile(path, bytes, types);
  if (file.kind === "quarantined") throw new Error(file.reason);
  return file;
}
const refused = (code: string, data: Record<string, unknown> = {}) =>
  expect.objectContaining({ code, data: expect.objectContaining(data) });
const named = (path: string) => refused("INVALID_PARAMS", { issues: [expect.objectContaining({ path })] });

test("a new memory is a file at the path that its names give, and its title is its key", () => {
  const planned = plan(save({ pinned: true, expiresInHours: 2 }), null, at(START_MS));
  expect(planned).toMatchObject({
    action: "save",
    noteId: memoryId(SAVE),
    path: PATH,
    expected: null,
    title: "color",
    type: "general",
    changes: null,
    created: true,
    noop: false,
  });
  expect(text(planned.bytes)).toBe(
    `---\nid: ${planned.noteId}\ntype: general\ntags: []\ncreated_at: 2026-11-30T10:15:00.000Z\n` +
      `updated_at: 2026-11-30T10:15:00.000Z\nscope: agent\nkey: color\nagent_name: Planner\npinned: true\n` +
      "expires_at: 2026-11-30T12:15:00.000Z\n---\n\nblue\n",
  );
});

test("the same names update it: the value, the pin and the expiry are what the last save says", () => {
  const first = after(save({ pinned: true, expiresInHours: 2 }));
  const again = plan(save({ value: "red" }), first, at(START_MS + HOUR_MS));
  expect(again).toMatchObject({
    action: "save",
    noteId: memoryId(SAVE),
    path: PATH,
    expected: first.revision,
  });
  expect(again.created).toBeUndefined();
  expect(again.changes).toMatch(/pinned: true → false; expires_at: .* → none; body \+1 −1/);
  const { fields, body } = read(fileAt(PATH, text(again.bytes)));
  expect(body).toBe("red");
  expect(fields).toMatchObject({
    pinned: false,
    expiresAt: null,
    createdAt: "2026-11-30T10:15:00.000Z",
    updatedAt: "2026-11-30T11:15:00.000Z",
  });
});

test("the same value again changes nothing, and a new expiry does", () => {
  const first = after(SAVE);
  expect(plan(SAVE, first, at(START_MS + 1))).toMatchObject({
    noop: true,
    bytes: first.bytes,
    changes: null,
  });
  expect(plan(save({ expiresInHours: 1 }), first, at(START_MS + 1))).toMatchObject({ noop: false });
});

test("a key whose memory has expired is free: what is saved then is new", () => {
  const first = after(save({ expiresInHours: 1, pinned: true, extra: { why: "x" } }));
  const planned = plan(save({ value: "red" }), first, at(START_MS + HOUR_MS));
  expect(planned).toMatchObject({ created: true, expected: first.revision, changes: null, noop: false });
  const { fields } = read(fileAt(PATH, text(planned.bytes)));
  expect(fields).toMatchObject({
    createdAt: "2026-11-30T11:15:00.000Z",
    pinned: false,
    expiresAt: null,
    extra: {},
  });
});

test("a memory that came from elsewhere is changed in its own style, and its words are put right", () => {
  const theirs = fileAt(
    PATH,
    "---\n# mine\nscope: workspace   # wrong\nkey:   'color'\nagent_name: PLANNER\nagent_id: 7\nid: mine\ndoi: 10.1\n---\r\ngreen\r\n",
  );
  const planned = plan(SAVE, theirs, at(START_MS));
  expect(planned.created).toBeUndefined();
  const made = text(planned.bytes);
  expect(made).toContain("# mine\n");
  expect(made).toContain("key:   'color'\nagent_name: PLANNER\n");
  expect(made).toContain("doi: 10.1\n");
  expect(made.endsWith("\r\nblue\r\n")).toBe(true);
  const file = read(fileAt(PATH, made));
  expect(file.disagreements).toEqual([]);
  expect(file.fields).toMatchObject({ id: planned.noteId, key: "color", scope: "agent" });
});

test("words alone that are put right are a change that is told", () => {
  const first = fileAt(PATH, text(after(SAVE).bytes).replace("scope: agent", "scope: person"));
  const planned = plan(SAVE, first, at(START_MS));
  expect(planned.noop).toBe(false);
  expect(planned.changes).not.toBeNull();
  expect(planned.created).toBeUndefined();
});

test("extra keys are set one by one, and null takes one away", () => {
  const first = after(save({ extra: { why: "a", how_to_apply: "b" } }));
  expect(read(first).fields.extra).toEqual({ why: "a", how_to_apply: "b" });
  const second = after(save({ extra: { why: null, n: 1 } }), START_MS, first);
  expect(read(second).fields.extra).toEqual({ how_to_apply: "b", n: 1 });
  expect(() => plan(save({ extra: { scope: "person" } }), null, at(START_MS))).toThrow(named("extra.scope"));
});

test("a file there that can't be read as a note refuses the save, and stays", () => {
  const broken = fileAt(PATH, "---\nkey: a: b: c\n---\nx");
  expect(() => plan(SAVE, broken, at(START_MS))).toThrow(refused("INVALID_NOTE", { path: PATH, line: 2 }));
});

test("if_revision is the memory's, and of one that is not there any more it is none", () => {
  const first = after(SAVE);
  const given = { ifRevision: first.revision };
  expect(plan(save({ value: "red", ...given }), first, at(START_MS)).noop).toBe(false);
  const moved = after(save({ value: "green" }), START_MS, first);
  expect(() => plan(save({ value: "red", ...given }), moved, at(START_MS))).toThrow(
    refused("CONFLICT", { revision: moved.revision, conflict: { ours: "green", theirs: "red", keys: [] } }),
  );
  expect(() => plan(save(given), null, at(START_MS))).toThrow(refused("CONFLICT", { revision: null }));
});

test.each([
  ["key", { key: "" }],
  ["key", { key: " \t " }],
  ["key", { key: "a\nb" }],
  ["key", { key: "a\u0000b" }],
  ["key", { key: "a\u2028b" }],
  ["key", { key: "half \ud800" }],
  ["key", { key: "k".repeat(513) }],
  ["key", { key: "__mine" }],
  ["key", { key: "__feedback__" }],
  ["scope_ref_id", { ref: "T-1" }],
  ["scope_ref_id", { scope: "workspace", agent: null, ref: "T-1" }],
  ["scope_ref_id", { scope: "thread" }],
  ["scope_ref_id", { scope: "person", ref: " " }],
  ["scope_ref_id", { scope: "thread", ref: "a\r" }],
  ["scope_ref_id", { scope: "thread", ref: "r".repeat(513) }],
  ["value", { value: "half \udc00" }],
  ["expires_in_hours", { expiresInHours: 0 }],
  ["expires_in_hours", { expiresInHours: -1 }],
  ["expires_in_hours", { expiresInHours: 1e9 }],
] as const)("%s is refused by name: %j", (path, wish) => {
  expect(() => plan(save(wish), null, at(START_MS))).toThrow(named(path));
});

test("a value that makes the file too large is refused", () => {
  expect(() => plan(save({ value: "v".repeat(10_000) }), null, at(START_MS))).toThrow(refused("TOO_LARGE"));
});

const ODD_KEYS = [
  "../x",
  ".git/hooks/post-commit",
  ".GIT",
  "git~1",
  "CON",
  "con.txt",
  "a: b?",
  "记".repeat(300),
  `${"记".repeat(300)}x`,
  "dots...",
  "...",
  "a/b\\c",
  "x.lock",
  " blanks around ",
  "---",
  "# hash",
  "é",
  "K",
  "k",
  "null",
  "00123",
  "true",
  "'quoted\"",
  "\ufeffbom",
  "k".repeat(512),
];

test("any key has a path of its own that no system takes for another, and is read back as it was", () => {
  const paths = ODD_KEYS.map((key) => plan(save({ key, scope: "thread", ref: key }), null, at(START_MS)));
  expect(new Set(paths.map(({ path }) => path.toLowerCase())).size).toBe(ODD_KEYS.length);
  for (const [i, { path, bytes, noteId }] of paths.entries()) {
    for (const segment of path.split("/")) expect(segment).toMatch(/^[a-z0-9_][a-z0-9._-]{0,122}$/);
    const file = read(fileAt(path, text(bytes)));
    expect(file.fields).toMatchObject({ key: ODD_KEYS[i], scopeRefId: ODD_KEYS[i], id: noteId });
    expect(file.disagreements).toEqual([]);
  }
});

test("whatever the names and the value are, what was saved is read back, and saving it again is no change", () => {
  const line = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
    .map((t) => t.normalize("NFC"))
    .filter((t) => t.trim() !== "" && !t.startsWith("__") && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(t));
  fc.assert(
    fc.property(line, line, fc.string({ unit: "grapheme", maxLength: 60 }), (key, ref, value) => {
      const change = save({ scope: "person", key, ref, value });
      const planned = plan(change, null, at(START_MS));
      expect(planned.path).toBe(memoryPath(change));
      const made = fileAt(planned.path, text(planned.bytes));
      const { fields, body, disagreements } = read(made);
      expect([fields.key, fields.scopeRefId, fields.id, body, disagreements]).toEqual([
        key,
        ref,
        planned.noteId,
        value,
        [],
      ]);
      expect(plan(change, made, at(START_MS + 1)).noop).toBe(true);
    }),
  );
});
