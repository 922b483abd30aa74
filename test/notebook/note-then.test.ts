/** Reading a note as it was: right at any commit, and at the cost of one blob. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "../support/memory/memory-store.ts";
import { openTestNotebook, PERSON, type TestNotebook } from "../support/open-notebook.ts";

let opened: TestNotebook;
let histories = 0;
beforeEach(async () => {
  histories = 0;
  const store = openMemoryStore({ proofKey: new Uint8Array(32) });
  const { history } = store;
  opened = await openTestNotebook({
    store: Object.assign(store, {
      history: (...args: Parameters<typeof history>) => {
        histories++;
        return history(...args);
      },
    }),
  });
});
afterEach(() => opened.dispose());

const FILE = (body: string, more = "") => `---\nid: a\n${more}---\n${body}\n`;

test("every state of a note is read as it was, without folding the history anew", async () => {
  const { person } = opened.store;
  const commits = ["one", "two", "three"].map((body, n) =>
    person.commit({ "notes/a.md": FILE(body, `title: T${n}\n`) }, { atMs: Date.UTC(2026, 10, n + 1) }),
  );
  const gone = person.commit({ "notes/a.md": null });
  await opened.disk.headMoved();
  const before = histories;
  for (const [n, commit] of commits.entries()) {
    const read = await opened.notebook.read("a", PERSON, commit);
    expect(read).toMatchObject({ content: ["one", "two", "three"][n], metadata: { title: `T${n}` } });
  }
  expect(await opened.notebook.read("a", PERSON, "2026-11-02T12:00:00Z")).toMatchObject({ content: "two" });
  await expect(opened.notebook.read("a", PERSON, gone)).rejects.toMatchObject({
    code: "NOT_FOUND",
    data: { deleted_in: gone, last_commit: commits[2] },
  });
  await expect(opened.notebook.read("b", PERSON, commits[0])).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(opened.notebook.read("a", PERSON, "2020-01-01")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(histories).toBe(before);
});

test("a note of another branch is read too, though the branch never had it", async () => {
  const { person } = opened.store;
  const root = person.commit({ "notes/a.md": FILE("main") });
  await opened.disk.headMoved();
  const side = person.commit(
    { "notes/a.md": FILE("side"), "notes/b.md": "b\n" },
    { parents: [root], move: false },
  );
  expect(await opened.notebook.read("a", PERSON, side)).toMatchObject({ content: "side" });
  expect(await opened.notebook.read("b", PERSON, side)).toMatchObject({ content: "b" });
  expect(await opened.notebook.sides("a", root, side, PERSON)).toMatchObject({
    before: { text: FILE("main") },
    after: { text: FILE("side") },
  });
});

test("a file that could not be read as a note then says so, with its line", async () => {
  const bad = opened.store.person.commit({ "notes/a.md": "---\ntitle: x\n{bad\n---\n" });
  opened.store.person.commit({ "notes/a.md": FILE("good") });
  await opened.disk.headMoved();
  await expect(opened.notebook.read("a", PERSON, bad)).rejects.toMatchObject({
    code: "INVALID_NOTE",
    data: { path: "notes/a.md" },
  });
});

test("a note that had expired by then was not there, and one that has expired since was", async () => {
  const file = (body: string) => FILE(body, "expires_at: 2026-11-02T00:00:00Z\n");
  const { person } = opened.store;
  const early = person.commit({ "notes/a.md": file("x") }, { atMs: Date.UTC(2026, 10, 1) });
  const late = person.commit({ "notes/a.md": file("y") }, { atMs: Date.UTC(2026, 10, 3) });
  await opened.disk.headMoved();
  expect(await opened.notebook.read("a", PERSON, early)).toMatchObject({ content: "x" });
  await expect(opened.notebook.read("a", PERSON, late)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
