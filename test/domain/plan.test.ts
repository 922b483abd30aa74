import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../src/domain/change.ts";
import { blobIdOf } from "../../src/domain/identity.ts";
import { NOTE_TYPES, type NoteId, type RepoPath } from "../../src/domain/note.ts";
import { readNoteFile } from "../../src/domain/note-file.ts";
import { type CurrentNote, type PlanContext, plan } from "../../src/domain/plan.ts";

const types = new Set(Object.keys(NOTE_TYPES));
// Literals of the right form.
const noteId = "note_20261130_101500_k3vq7a" as NoteId;
const path = "notes/2026/11/30/note_20261130_101500_k3vq7a.md" as RepoPath;
const context: PlanContext = {
  nowMs: Date.UTC(2026, 10, 30, 10, 15),
  types,
  maxNoteBytes: 262_144,
  newId: () => noteId,
  newPath: () => path,
  baseBytes: null,
};
type Create = Extract<Change, { kind: "create" }>;
const create: Create = {
  kind: "create",
  title: "T",
  content: "body",
  noteType: "general",
  tags: [],
  extra: {},
  pinned: false,
  expiresInHours: null,
  folder: null,
};
const later = { ...context, nowMs: context.nowMs + 60_000 };

function noteOf(text: string): CurrentNote {
  const bytes = Buffer.from(text);
  return { noteId, path, revision: blobIdOf(bytes), bytes, title: "T", type: "general" };
}
function made(change: Partial<Create> = {}): CurrentNote {
  return noteOf(Buffer.from(plan({ ...create, ...change }, null, context).bytes ?? []).toString());
}
type Update = Extract<Change, { kind: "update" }>;
const update = (wish: Partial<Update>): Update => ({
  kind: "update",
  noteId,
  onConflict: "fail",
  ...wish,
});
const text = (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString();
function read(bytes: Uint8Array | null) {
  const file = readNoteFile(path, bytes ?? new Uint8Array(), types);
  if (file.kind === "quarantined") throw new Error(file.reason);
  return file;
}
const refused = (code: string, data: Record<string, unknown> = {}) =>
  expect.objectContaining({ code, data: expect.objectContaining(data) });

test("a create is a note file with its id, dates and expiry from the given clock", () => {
  const planned = plan(
    {
      ...create,
      title: "Login: 500",
      noteType: "blocker",
      tags: ["a", "a", "b"],
      pinned: true,
      expiresInHours: 1.5,
      extra: { doi: "10.10", n: null },
    },
    null,
    context,
  );
  expect(planned).toMatchObject({
    action: "create",
    noteId,
    path,
    expected: null,
    title: "Login: 500",
    type: "blocker",
    changes: null,
    noop: false,
    merged: false,
  });
  expect(text(planned.bytes)).toBe(`---
id: ${noteId}
title: "Login: 500"
type: blocker
tags: [a, b]
created_at: 2026-11-30T10:15:00.000Z
updated_at: 2026-11-30T10:15:00.000Z
pinned: true
expires_at: 2026-11-30T11:45:00.000Z
doi: "10.10"
---

body
`);
});

test("what a note can't hold is refused, named by its parameter", () => {
  const bad: [Partial<Create>, string][] = [
    [{ title: "" }, "title"],
    [{ title: "  " }, "title"],
    [{ title: "a\nb: c" }, "title"],
    [{ title: "a\u2028b" }, "title"],
    [{ title: "a\u0000" }, "title"],
    [{ title: "\ud800" }, "title"],
    [{ title: "x".repeat(301) }, "title"],
    [{ content: "half \udc00" }, "content"],
    [{ noteType: "idea" }, "note_type"],
    [{ tags: [""] }, "tags.0"],
    [{ tags: ["a", "x".repeat(65)] }, "tags.1"],
    [{ tags: ["a\nb"] }, "tags.0"],
    [{ tags: Array.from({ length: 65 }, (_, i) => `t${i}`) }, "tags"],
    [{ expiresInHours: 0 }, "expires_in_hours"],
    [{ expiresInHours: -1 }, "expires_in_hours"],
    [{ expiresInHours: 1e12 }, "expires_in_hours"],
    [{ expiresInHours: Number.NaN }, "expires_in_hours"],
    [{ extra: { type: "x" } }, "extra.type"],
    [{ extra: { ["__proto__"]: 1 } }, "extra.__proto__"],
    [{ extra: { "a\nb": 1 } }, "extra.a\nb"],
    [{ extra: { a: undefined } }, "extra.a"],
    [{ extra: { big: "x".repeat(40_000) } }, "extra"],
  ];
  for (const [wish, param] of bad) {
    expect(() => plan({ ...create, ...wish }, null, context), param).toThrow(
      refused("INVALID_PARAMS", { issues: [{ path: param, message: expect.any(String) }] }),
    );
  }
  expect(() => plan({ ...create, title: "😀".repeat(300) }, null, context)).not.toThrow();
});

test("the limit counts the bytes of the whole file", () => {
  const { byteLength } = made().bytes;
  expect(() => plan(create, null, { ...context, maxNoteBytes: byteLength })).not.toThrow();
  expect(() => plan(create, null, { ...context, maxNoteBytes: byteLength - 1 })).toThrow(
    refused("TOO_LARGE", { bytes: byteLength, limit: byteLength - 1 }),
  );
  expect(() => plan(update({ content: "x".repeat(300_000) }), made(), context)).toThrow(refused("TOO_LARGE"));
});

test("an update changes what it names and says so", () => {
  const planned = plan(
    update({ status: "resolved", tags: ["fixed"], content: "other", extra: { doi: "1" } }),
    made(),
    later,
  );
  expect(planned).toMatchObject({
    action: "update",
    expected: made().revision,
    changes: "status: open → resolved; doi: none → 1; tags +fixed; body +1 −1",
    noop: false,
    merged: false,
  });
  expect(read(planned.bytes)).toMatchObject({
    body: "other",
    fields: {
      status: "resolved",
      updatedAt: "2026-11-30T10:16:00.000Z",
      createdAt: "2026-11-30T10:15:00.000Z",
    },
  });
});

test("expiry is set from now, and null clears it; extra keys go with null", () => {
  const note = made({ expiresInHours: 2, extra: { doi: "1", x: 2 } });
  expect(read(plan(update({ expiresInHours: 3 }), note, later).bytes).fields.expiresAt).toBe(
    "2026-11-30T13:16:00.000Z",
  );
  const cleared = read(plan(update({ expiresInHours: null, extra: { doi: null } }), note, later).bytes);
  expect(cleared.fields).toMatchObject({ expiresAt: null, extra: { x: 2 } });
});

test("an update that changes nothing has the very same bytes", () => {
  const note = made();
  const planned = plan(
    update({ title: "T", content: "body", status: "open", tags: [], pinned: false }),
    note,
    later,
  );
  expect(planned.bytes).toBe(note.bytes);
  expect(planned).toMatchObject({ noop: true, changes: null });
});

test("an edit needs its text exactly once", () => {
  const note = made({ content: "one two two\nthree" });
  const edit = (oldStr: string, newStr = "X"): Change => ({ kind: "edit", noteId, oldStr, newStr });
  expect(read(plan(edit("one", "$& 1"), note, later).bytes).body).toBe("$& 1 two two\nthree");
  expect(() => plan(edit("four"), note, later)).toThrow(refused("CONFLICT", { reason: "no_match" }));
  expect(() => plan(edit("two"), note, later)).toThrow(
    refused("CONFLICT", { reason: "many_matches", count: 2 }),
  );
  expect(() => plan(edit(""), note, later)).toThrow(refused("INVALID_PARAMS"));
  const windows = noteOf("---\r\ntitle: T\r\n---\r\none\r\ntwo\r\n");
  expect(text(plan(edit("one\ntwo", "1\n2"), windows, later).bytes)).toBe(
    "---\r\ntitle: T\r\n---\r\n1\r\n2\r\n",
  );
});

test("append puts text at the end or under a heading", () => {
  const note = made({ content: "## A\n\na\n\n## B\n\nb" });
  const append = (content: string, heading?: string): Change => ({
    kind: "append",
    noteId,
    content,
    ...(heading === undefined ? {} : { heading }),
  });
  expect(read(plan(append("c"), note, later).bytes).body).toBe("## A\n\na\n\n## B\n\nb\nc");
  expect(plan(append("c", "A"), note, later)).toMatchObject({ action: "append", changes: "body +1 −0" });
});

test("a note that can't be read is not changed, and can be deleted", () => {
  const broken = noteOf("---\nid: a\ntitle: a: b: c\n---\nbody\n");
  const changes: Change[] = [
    update({ status: "resolved" }),
    { kind: "append", noteId, content: "x" },
    { kind: "edit", noteId, oldStr: "body", newStr: "x" },
  ];
  for (const change of changes) {
    expect(() => plan(change, broken, context)).toThrow(refused("INVALID_NOTE", { path, line: 3 }));
  }
  expect(plan({ kind: "delete", noteId }, broken, context)).toMatchObject({
    action: "delete",
    bytes: null,
    expected: broken.revision,
  });
});

test("a missing note is NOT_FOUND", () => {
  expect(() => plan(update({}), null, context)).toThrow(refused("NOT_FOUND", { note_id: noteId }));
});

const base = made({ content: "one\n\ntwo\n\nthree" });
const current = noteOf(text(plan(update({ content: "ONE\n\ntwo\n\nthree" }), base, later).bytes));
const stale = { ...later, baseBytes: base.bytes };
const at = base.revision;

test("a stale revision is refused with the merge, and the merge is made on request", () => {
  const wish = update({ content: "one\n\ntwo\n\nTHREE", ifRevision: at });
  const body = "ONE\n\ntwo\n\nTHREE";
  expect(() => plan(wish, current, stale)).toThrow(
    refused("CONFLICT", { revision: current.revision, merged: body }),
  );
  const planned = plan({ ...wish, onConflict: "merge" }, current, stale);
  expect(planned).toMatchObject({
    expected: current.revision,
    merged: true,
    noop: false,
    changes: "body +1 −1",
  });
  expect(read(planned.bytes).body).toBe(body);
});

test("changes of one place are both shown, also when a merge was asked for", () => {
  for (const onConflict of ["fail", "merge"] as const) {
    expect(() =>
      plan(update({ content: "uno\n\ntwo\n\nthree", ifRevision: at, onConflict }), current, stale),
    ).toThrow(
      refused("CONFLICT", {
        revision: current.revision,
        conflict: { ours: "ONE\n\ntwo\n\nthree", theirs: "uno\n\ntwo\n\nthree", keys: [], values: {} },
      }),
    );
  }
});

test("the current revision is no conflict; an unknown one, and a stale delete, are refused", () => {
  expect(plan(update({ status: "resolved", ifRevision: current.revision }), current, later).merged).toBe(
    false,
  );
  expect(() => plan(update({ status: "resolved", ifRevision: "0".repeat(40) }), current, later)).toThrow(
    refused("CONFLICT", { revision: current.revision }),
  );
  expect(() => plan({ kind: "delete", noteId, ifRevision: at }, current, stale)).toThrow(
    refused("CONFLICT", { revision: current.revision }),
  );
  expect(plan({ kind: "delete", noteId, ifRevision: current.revision }, current, later).bytes).toBeNull();
});

test("a merge whose change is in the note already changes nothing", () => {
  const wish = update({ content: "ONE\n\ntwo\n\nthree", ifRevision: at, onConflict: "merge" });
  const planned = plan(wish, current, { ...stale, nowMs: later.nowMs + 5_000 });
  expect(planned).toMatchObject({ noop: true, merged: true });
  expect(planned.bytes).toBe(current.bytes);
});

test("without a revision the last writer wins", () => {
  expect(read(plan(update({ content: "mine" }), current, later).bytes).body).toBe("mine");
});

test("whatever is created reads back exactly, or is refused by name", () => {
  const any = fc.string({ unit: "binary", maxLength: 20 });
  fc.assert(
    fc.property(any, any, fc.array(any, { maxLength: 3 }), (title, content, tags) => {
      try {
        const file = read(plan({ ...create, title, content, tags }, null, context).bytes);
        expect([file.fields.title, file.body, file.fields.tags]).toEqual([
          title,
          content,
          [...new Set(tags)],
        ]);
      } catch (error) {
        expect(error).toMatchObject({ code: "INVALID_PARAMS" });
      }
    }),
    { numRuns: 200 },
  );
});
