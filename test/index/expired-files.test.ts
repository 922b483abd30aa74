/** Which notes have expired and when the next one does, whatever moves, and without a look at all of them. */
import { expect, test } from "vitest";
import { createNoteIndex, restoreNoteIndex } from "../../src/index/create.ts";
import type { NoteIndex } from "../../src/index/note-index.ts";
import { HistoryBuilder } from "../support/history-builder.ts";

const AT = Date.UTC(2026, 11, 1);
const note = (expiresMs: number | null, body = "x") =>
  `---\ntitle: t\n${expiresMs === null ? "" : `expires_at: ${new Date(expiresMs).toISOString()}\n`}---\n${body}\n`;
const names = (index: NoteIndex, nowMs: number) => [...index.expired(nowMs)].map(({ path }) => path);

async function held() {
  const builder = new HistoryBuilder();
  const index = createNoteIndex();
  const first = builder.change(null, {
    "notes/c.md": note(AT + 3),
    "notes/a.md": note(AT + 1),
    "notes/never.md": note(null),
    "notes/b.md": note(AT + 2),
    "notes/broken.md": `---\nexpires_at: ${new Date(AT).toISOString()}\n{x\n---\n`,
  });
  const go = (to: typeof first) => index.apply(builder.history(index.head, to), builder.read, to);
  await go(first);
  return { builder, index, first, go };
}

test("the longest gone come first, at their instant and not before; what can't be read says no expiry", async () => {
  const { index, first } = await held();
  expect(names(index, AT)).toEqual([]);
  expect(names(index, AT + 1)).toEqual(["notes/a.md"]);
  expect(names(index, AT + 9)).toEqual(["notes/a.md", "notes/b.md", "notes/c.md"]);
  expect([index.nextExpiryMs(0), index.nextExpiryMs(AT + 1), index.nextExpiryMs(AT + 3)]).toEqual([
    AT + 1,
    AT + 2,
    Number.POSITIVE_INFINITY,
  ]);
  expect([index.size(), index.size(AT), index.size(AT + 2)]).toEqual([4, 4, 2]);
  const [gone] = index.expired(AT + 1);
  expect(gone).toMatchObject({
    expiresMs: AT + 1,
    changedIn: first,
    noteId: index.idAt(gone?.path as never),
  });
});

test("a moved, cleared, removed or restored expiry is known at once, and a checkpoint knows them all", async () => {
  const { builder, index, first, go } = await held();
  const next = builder.change(first, {
    "notes/a.md": note(AT + 8),
    "notes/b.md": note(null),
    "notes/c.md": null,
    "notes/new.md": note(AT + 5),
  });
  await go(next);
  expect(names(index, AT + 9)).toEqual(["notes/new.md", "notes/a.md"]);
  const restored = restoreNoteIndex(Buffer.concat([...index.snapshot(null).pieces()]));
  expect(restored && names(restored, AT + 9)).toEqual(["notes/new.md", "notes/a.md"]);
  expect(restored?.nextExpiryMs(AT)).toBe(AT + 5);
  await go(first);
  expect(names(index, AT + 9)).toEqual(["notes/a.md", "notes/b.md", "notes/c.md"]);
});

test("one that changes while they are gone through counts as it is when its turn comes", async () => {
  const { builder, index, first, go } = await held();
  const files = index.expired(AT + 9)[Symbol.iterator]();
  expect(files.next().value).toMatchObject({ path: "notes/a.md" });
  await go(builder.change(first, { "notes/b.md": note(AT + 100) }));
  expect(files.next().value).toMatchObject({ path: "notes/c.md" });
  expect(files.next().done).toBe(true);
});
