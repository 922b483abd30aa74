/** Every CONFLICT of a stale `if_revision`, mended by doing what it says: one further call, which succeeds. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../src/domain/change.ts";
import { NotesError } from "../../src/domain/errors.ts";
import { blobIdOf } from "../../src/domain/identity.ts";
import { NOTE_TYPES, type NoteId, type RepoPath } from "../../src/domain/note.ts";
import { readableNote } from "../../src/domain/note-file-write.ts";
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

type Update = Extract<Change, { kind: "update" }>;
type Wish = Omit<Update, "kind" | "noteId" | "onConflict">;
const update = (wish: Wish, onConflict: Update["onConflict"] = "fail"): Update => ({
  kind: "update",
  noteId,
  onConflict,
  ...wish,
});

function noteOf(bytes: Uint8Array): CurrentNote {
  return { noteId, path, revision: blobIdOf(bytes), bytes, title: "T", type: "general" };
}
function noteAs(text: string): CurrentNote {
  return noteOf(Buffer.from(text));
}
/** The note after a change. */
function after(change: Change, note: CurrentNote, more: Partial<PlanContext> = {}): CurrentNote {
  const { bytes } = plan(change, note, { ...context, ...more });
  if (bytes === null) throw new Error("the note is gone");
  return noteOf(bytes);
}
function refusal(change: Change, note: CurrentNote, base: CurrentNote | null): NotesError {
  try {
    plan(change, note, { ...context, baseBytes: base?.bytes ?? null });
  } catch (error) {
    if (error instanceof NotesError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
/** What a note says, but for when. */
function said(note: CurrentNote) {
  const { fields, body } = readableNote(path, note.bytes, types);
  const { updatedAt: _, ...rest } = fields;
  return { ...rest, body };
}
const bodyOf = (note: CurrentNote) => said(note).body;

/** An update as the advice has it: the caller's JSON, as the action reads it. */
function mending({ data }: NotesError): Update {
  const { note_type, expires_in_hours, ...fields } = data["fields"] as Record<string, unknown>;
  const wish = {
    ...fields,
    ...(note_type === undefined ? {} : { noteType: note_type }),
    ...(expires_in_hours === undefined ? {} : { expiresInHours: expires_in_hours }),
    content: data["merged"],
    ifRevision: data["revision"],
  };
  // What the daemon answered, sent back.
  return update(wish as Wish);
}

const FILE = `---
id: ${noteId}
title: T
type: general
tags: [a, b]
created_at: 2026-11-30T10:00:00.000Z
updated_at: 2026-11-30T10:00:00.000Z
doi: "10"
---

one

two

three
`;
const base = noteAs(FILE);
const at = { ifRevision: base.revision };

test("the merged text and its fields, sent as one update, make the merge", () => {
  const now = after(
    update({ content: "ONE\n\ntwo\n\nthree", tags: ["a", "b", "theirs"], title: "Now" }),
    base,
  );
  const wish = update({
    content: "one\n\ntwo\n\nTHREE",
    tags: ["a", "mine"],
    title: "T",
    status: "resolved",
    extra: { doi: null, n: 1 },
    ...at,
  });
  const error = refusal(wish, now, base);
  expect(error).toMatchObject({
    code: "CONFLICT",
    data: {
      revision: now.revision,
      merged: "ONE\n\ntwo\n\nTHREE",
      fields: { tags: ["a", "theirs", "mine"], status: "resolved", extra: { doi: null, n: 1 } },
    },
  });
  const mended = after(mending(error), now);
  expect(said(mended)).toEqual(said(after({ ...wish, onConflict: "merge" }, now, { baseBytes: base.bytes })));
  expect(said(mended)).toMatchObject({ title: "Now", body: "ONE\n\ntwo\n\nTHREE", status: "resolved" });
});

test("a status alone is not lost by sending the merged text back", () => {
  const now = after({ kind: "append", noteId, content: "four" }, base);
  const error = refusal(update({ status: "resolved", ...at }), now, base);
  expect(error.data["fields"]).toEqual({ status: "resolved" });
  expect(said(after(mending(error), now))).toMatchObject({
    status: "resolved",
    body: expect.stringMatching(/four$/),
  });
});

test("line ends and an empty front matter survive the way there and back", () => {
  for (const text of [FILE.replaceAll("\n", "\r\n"), "one\r\n\r\ntwo\r\n\r\nthree", "one\n\ntwo\n\nthree"]) {
    const was = noteAs(text);
    const now = after(update({ content: bodyOf(was).replace("one", "ONE") }), was);
    const wish = update({ content: bodyOf(was).replace("three", "THREE"), ifRevision: was.revision });
    const merged = after({ ...wish, onConflict: "merge" }, now, { baseBytes: was.bytes });
    expect(bodyOf(after(mending(refusal(wish, now, was)), now))).toBe(bodyOf(merged));
  }
});

test("an append is sent again with data.revision and comes after what the other appended", () => {
  const now = after({ kind: "append", noteId, content: "theirs" }, base);
  const wish: Change = { kind: "append", noteId, content: "mine", ...at };
  const error = refusal(wish, now, base);
  expect(error.data).toMatchObject({
    revision: now.revision,
    conflict: { ours: expect.stringMatching(/theirs$/), theirs: expect.stringMatching(/mine$/), keys: [] },
  });
  expect(error.message).toMatch(/Send the same again with data\.revision/);
  expect(bodyOf(after({ ...wish, ifRevision: String(error.data["revision"]) }, now))).toMatch(
    /theirs\nmine$/,
  );
});

test("an append beside a change elsewhere merges, by sending it again or the merged text", () => {
  const now = after(update({ content: "ONE\n\ntwo\n\nthree\n\nfour" }), noteAs(`${FILE}\nfour\n`));
  const was = noteAs(`${FILE}\nfour\n`);
  const wish: Change = { kind: "append", noteId, content: "five", ifRevision: was.revision };
  const error = refusal(wish, now, was);
  const again = after({ ...wish, ifRevision: String(error.data["revision"]) }, now);
  expect(bodyOf(again)).toMatch(/^ONE.*four\nfive$/s);
  expect(bodyOf(after(mending(error), now))).toBe(bodyOf(again));
});

test("an edit whose text stands twice by now is mended by the merged text", () => {
  const now = after(update({ content: "three\n\ntwo\n\nthree" }), base);
  const wish: Change = { kind: "edit", noteId, oldStr: "three", newStr: "THREE", ...at };
  const error = refusal(wish, now, base);
  expect(bodyOf(after(mending(error), now))).toBe("three\n\ntwo\n\nTHREE");
});

test("what both changed comes with both texts and both values, and what shall stand is one call", () => {
  const now = after(update({ content: "ONE\n\ntwo\n\nthree", title: "Ours" }), base);
  const error = refusal(update({ content: "uno\n\ntwo\n\nthree", title: "Theirs", ...at }), now, base);
  expect(error.data).toEqual({
    revision: now.revision,
    conflict: {
      ours: "ONE\n\ntwo\n\nthree",
      theirs: "uno\n\ntwo\n\nthree",
      keys: ["title"],
      values: { title: { ours: "Ours", theirs: "Theirs" } },
    },
  });
  const stands = {
    content: "ONE uno\n\ntwo\n\nthree",
    title: "Both",
    ifRevision: String(error.data["revision"]),
  };
  expect(said(after(update(stands), now))).toMatchObject({ title: "Both", body: stands.content });
});

test("an edit of what is in neither text tells the revision all the same", () => {
  const now = after(update({ content: "ONE\n\ntwo\n\nthree" }), base);
  const error = refusal({ kind: "edit", noteId, oldStr: "ONE", newStr: "1", ...at }, now, base);
  expect(error.data).toMatchObject({ reason: "no_match", revision: now.revision });
});

test("a delete, and a change of a revision that nobody knows, hold when sent again with data.revision", () => {
  const now = after(update({ content: "ONE" }), base);
  const gone: Change = { kind: "delete", noteId, ...at };
  const stale = refusal(gone, now, base);
  expect(plan({ ...gone, ifRevision: String(stale.data["revision"]) }, now, context).bytes).toBeNull();
  const unknown = update({ status: "resolved", ifRevision: "0".repeat(40) });
  const refused = refusal(unknown, now, null);
  expect(said(after({ ...unknown, ifRevision: String(refused.data["revision"]) }, now))).toMatchObject({
    status: "resolved",
    body: "ONE",
  });
});

test("whatever two sides change: a refusal that merges is mended to just what on_conflict merge makes", () => {
  const line = fc.constantFrom("one", "two", "three", "four", "five", "");
  const content = fc.array(line, { maxLength: 7 }).map((lines) => lines.join("\n"));
  const tag = fc.constantFrom("a", "b", "c", "d");
  const wishes = fc
    .record(
      {
        content,
        title: fc.constantFrom("T", "U", "V"),
        tags: fc.uniqueArray(tag),
        status: fc.constantFrom("open" as const, "resolved" as const, "archived" as const),
        noteType: fc.constantFrom("general", "blocker"),
        pinned: fc.boolean(),
        extra: fc.dictionary(fc.constantFrom("doi", "n", "m"), fc.constantFrom("10", 1, true, null)),
      },
      { requiredKeys: [] },
    )
    .map((wish): Wish => wish);
  let merges = 0;
  fc.assert(
    fc.property(wishes, wishes, (theirs, mine) => {
      const now = after(update(theirs), base);
      const wish = update({ ...mine, ...at });
      if (now.revision === base.revision) return;
      const error = refusal(wish, now, base);
      if (error.data["conflict"] !== undefined) return;
      merges++;
      const merged = after({ ...wish, onConflict: "merge" }, now, { baseBytes: base.bytes });
      expect(said(after(mending(error), now))).toEqual(said(merged));
    }),
    { numRuns: 300, seed: 5 },
  );
  expect(merges).toBeGreaterThan(20);
});
