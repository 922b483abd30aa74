import fc from "fast-check";
import { expect, test } from "vitest";
import { NOTE_TYPES, type NoteId } from "../../src/domain/note.ts";
import { type NoteFields, OWN_KEYS, readNoteFile } from "../../src/domain/note-file.ts";
import { type NotePatch, updateNoteFile, writeNoteFile } from "../../src/domain/note-file-write.ts";

const types = new Set(Object.keys(NOTE_TYPES));
const path = "notes/x.md";
const fresh: NoteFields = {
  // A literal of the right form.
  id: "note_20261130_101500_k3vq7a" as NoteId,
  title: "Login returns 500: refresh token",
  type: "blocker",
  tags: ["auth", "urgent"],
  createdAt: "2026-11-30T10:15:00.000Z",
  updatedAt: "2026-11-30T10:15:00.000Z",
  status: "open",
  scope: "workspace",
  scopeRefId: null,
  key: null,
  agentId: null,
  agentName: null,
  pinned: false,
  expiresAt: null,
  extra: {},
};
const update = (text: string, patch: NotePatch) =>
  Buffer.from(updateNoteFile(path, Buffer.from(text), types, patch)).toString();
function read(data: Uint8Array) {
  const file = readNoteFile(path, data, types);
  if (file.kind === "quarantined") throw new Error(file.reason);
  return file;
}

test("a new note is written as the specification shows it", () => {
  expect(Buffer.from(writeNoteFile(fresh, "body")).toString()).toBe(`---
id: note_20261130_101500_k3vq7a
title: "Login returns 500: refresh token"
type: blocker
tags: [auth, urgent]
created_at: 2026-11-30T10:15:00.000Z
updated_at: 2026-11-30T10:15:00.000Z
---

body
`);
});

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "x ---",
    "foo: bar",
    "[x] todo",
    "# hash",
    '"quoted"',
    "标题: 值 #1",
    " both ",
    "---",
    "null",
    "1.0",
    "2024-01-01",
    "'",
    "*",
    "&a",
    "a\tb",
  ),
);
const line = text
  .map((given) => given.replace(/[\n\r\u2028\u2029]/g, ""))
  .filter((given) => given.trim() !== "");
const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 2 })
  .filter((value) => !JSON.stringify(value).includes("__proto__") && !Object.is(value, -0));
const extra = fc.dictionary(
  line.filter((key) => !["__proto__", ...OWN_KEYS].some((own) => own === key)),
  json,
  { maxKeys: 3, noNullPrototype: true },
);
const body = fc.oneof(
  text,
  fc
    .array(fc.constantFrom("---", "a", "\n", "\r\n", "\r", "title: x", "```", " ", "\ufeff"), {
      maxLength: 8,
    })
    .map((parts) => parts.join("")),
);

test("any title, tags, extra and body come back exactly", () => {
  fc.assert(
    fc.property(line, fc.uniqueArray(line, { maxLength: 4 }), extra, body, (title, tags, more, content) => {
      const fields = { ...fresh, title, tags, extra: JSON.parse(JSON.stringify(more)) };
      const file = read(writeNoteFile(fields, content));
      expect(file.fields).toEqual(fields);
      expect(file.body).toBe(content);
    }),
    { numRuns: 250 },
  );
});

test("any update of any note comes back exactly, and none changes what it doesn't name", () => {
  const starts = fc.constantFrom(
    "---\ntitle: a\n---\n\nbody\n",
    "---\ntitle: a\n---\nbody",
    "---\ntitle: a\n---",
    "plain\n",
    "",
    "---\nrule first\n",
    "\ufeff---\r\ntitle: 'a' # c\r\ntags:\r\n  - x\r\n---\r\n\r\none\r\ntwo\r\n",
  );
  fc.assert(
    fc.property(starts, line, fc.uniqueArray(line, { maxLength: 3 }), body, (start, title, tags, content) => {
      const before = read(Buffer.from(start));
      const data = updateNoteFile(path, Buffer.from(start), types, { title, tags, body: content });
      const after = read(data);
      const kept =
        before.body.includes("\r\n") && !content.includes("\r\n")
          ? content.replaceAll("\n", "\r\n")
          : content;
      expect(after.body).toBe(kept);
      expect(after.fields).toEqual({ ...before.fields, title, tags });
      expect(after.front.bom).toBe(before.front.bom);
      expect(
        updateNoteFile(path, data, types, {
          title,
          tags,
          body: content,
          updatedAt: "2030-01-01T00:00:00.000Z",
        }),
      ).toBe(data);
    }),
    { numRuns: 250 },
  );
});

test("the same values and a later updated_at are no change: the very same bytes", () => {
  const data = writeNoteFile({ ...fresh, status: "resolved", extra: { doi: "1" } }, "b");
  const same: NotePatch = {
    title: fresh.title,
    type: "blocker",
    tags: fresh.tags,
    status: "resolved",
    pinned: false,
    expiresAt: null,
    extra: { doi: "1", gone: null },
    body: "b",
    updatedAt: "2031-01-01T00:00:00.000Z",
  };
  expect(updateNoteFile(path, data, types, same)).toBe(data);
});

test("values that read the same are left in the author's writing", () => {
  const text = "---\ntitle: 007\ntype: general\ntags: 1.0, b\ncreated: 2024-01-01\npinned: yes\n---\nx\n";
  expect(update(text, { title: "007", tags: ["1.0", "b"], pinned: true, body: "x" })).toBe(text);
});

test("an update changes its key's line and updated_at", () => {
  const before = Buffer.from(writeNoteFile(fresh, "body")).toString();
  expect(update(before, { status: "resolved", updatedAt: "2027-01-01T00:00:00.000Z" })).toBe(
    before.replace(
      "updated_at: 2026-11-30T10:15:00.000Z\n",
      "updated_at: 2027-01-01T00:00:00.000Z\nstatus: resolved\n",
    ),
  );
});

test("a person's file is not given keys that it doesn't need", () => {
  expect(update("# T\n\ntext\n", { body: "# T\n\nmore", updatedAt: "2027-01-01T00:00:00.000Z" })).toBe(
    "# T\n\nmore\n",
  );
  expect(
    update("---\ntags: a, b\nmodified: 2024-01-01\n---\nx\n", {
      tags: ["a", "c"],
      updatedAt: "2027-01-01T00:00:00.000Z",
    }),
  ).toBe("---\ntags: a, c\nmodified: 2024-01-01\nupdated_at: 2027-01-01T00:00:00.000Z\n---\nx\n");
  expect(update("---\ntags: a, b\n---\n", { tags: ["a", "b, c"] })).toBe('---\ntags: [a, "b, c"]\n---\n');
  expect(update("---\nexpires_at: 2027-01-01\nx: 1\n---\n", { expiresAt: null })).toBe("---\nx: 1\n---\n");
});

test("a body that looks like front matter stays body", () => {
  const content = "---\ntitle: not mine\n---\ntext";
  const data = updateNoteFile(path, Buffer.from("plain\n"), types, { body: content });
  expect(read(data)).toMatchObject({ body: content, fields: { extra: {}, tags: [] } });
});

test("a file that can't be read is refused with path and line, not one byte changed", () => {
  const data = Buffer.from("---\nid: a\ntitle: a: b: c\n---\nbody\n");
  const copy = Buffer.from(data);
  expect(() => updateNoteFile(path, data, types, { status: "resolved" })).toThrow(
    expect.objectContaining({ code: "INVALID_NOTE", data: { path, line: 3, reason: expect.any(String) } }),
  );
  expect(data.equals(copy)).toBe(true);
});
