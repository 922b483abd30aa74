/** What the writer promises of requests that come twice, and of writes that meet on one note. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import { NotesError } from "../../../src/domain/errors.ts";
import type { NoteId } from "../../../src/domain/note.ts";
import type { Caller } from "../../../src/domain/principal.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook({ warn: () => {} });
});
afterEach(() => opened.dispose());

const create = (title: string): Change => ({
  ...{ kind: "create", title, content: "text", noteType: "general", tags: [], extra: {} },
  ...{ pinned: false, expiresInHours: null, folder: null },
});
const update = (noteId: NoteId, content: string, ifRevision?: string): Change => ({
  ...{ kind: "update", noteId, content, onConflict: "fail" },
  ...(ifRevision === undefined ? {} : { ifRevision }),
});
const HASH = "a".repeat(64);
const write = (change: Change, key: string | null = null, caller: Caller = PERSON) =>
  opened.notebook.write(
    { change, reason: null, idempotency: key === null ? null : { key, hash: HASH } },
    caller,
  );
const total = () =>
  opened.notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 1, cursor: null }).total;

test("of twenty writes that name one revision, in one group, one wins, and the others are told its revision", async () => {
  const made = await write(create("Shared"));
  const revision = String(made.revision);
  const all = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => write(update(made.noteId, `of ${i}`, revision))),
  );
  const won = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const lost: unknown[] = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(won).toHaveLength(1);
  expect(lost).toHaveLength(19);
  for (const error of lost)
    expect(error).toMatchObject({ code: "CONFLICT", data: { revision: won[0]?.revision } });
  const { items } = await opened.notebook.history({ noteId: made.noteId }, 10, null);
  expect(items.map((row) => row.revision)).toEqual([won[0]?.revision, made.revision]);
});

test("of a delete and an update that name one revision, in one group, one wins", async () => {
  for (const first of ["delete", "update"] as const) {
    const { noteId, revision } = await write(create("Shared"));
    const ifRevision = String(revision);
    const gone: Change = { kind: "delete", noteId, ifRevision };
    const changed = update(noteId, "new", ifRevision);
    const both = await Promise.allSettled(
      (first === "delete" ? [gone, changed] : [changed, gone]).map((change) => write(change)),
    );
    expect(both).toMatchObject([
      { status: "fulfilled" },
      { reason: { code: first === "delete" ? "NOT_FOUND" : "CONFLICT" } },
    ]);
  }
});

test("a key is the agent's, however the name is written, and is known after a restart that rebuilds the index", async () => {
  const first = await write(create("Once"), "k", agent("Planner"));
  expect(await write(create("Once"), "k", agent("ｐｌａｎｎｅｒ"))).toMatchObject({
    noteId: first.noteId,
    replayed: true,
  });
  expect(await write(create("Once"), "k", agent("planer"))).toMatchObject({ replayed: false });
  opened = await opened.reopen();
  rmSync(join(opened.stateDir, "checkpoint"), { force: true });
  opened = await opened.reopen();
  expect(await write(create("Once"), "k", agent("planner"))).toMatchObject({
    ...{ noteId: first.noteId, path: first.path, revision: first.revision, commit: first.commit },
    replayed: true,
  });
});

test("a restore that moved the note back is replayed with the path where it lies", async () => {
  const { noteId, path, revision } = await write(create("Moved"));
  if (path === null || revision === null) throw new Error("a new note has both");
  const text = opened.store.person.text(path) ?? "";
  opened.store.person.commit({ [path]: null, "notes/a.md": text });
  await opened.disk.headMoved();
  await write(update(noteId, "another text"));
  const restore: Change = { kind: "restore", noteId, path, revision };
  const back = await write(restore, "back");
  expect(back).toMatchObject({ path, replayed: false });
  expect(await write(restore, "back")).toMatchObject({ path, revision: back.revision, replayed: true });
});

test("replay knows what was carried out, not what is under way, and refuses another request's key", async () => {
  const idempotency = { key: "k", hash: HASH };
  const under = write(create("Once"), "k");
  expect(opened.notebook.replay(idempotency, PERSON)).toBeNull();
  const made = await under;
  expect(opened.notebook.replay(idempotency, PERSON)).toMatchObject({ commit: made.commit, replayed: true });
  expect(opened.notebook.replay(idempotency, agent("planner"))).toBeNull();
  expect(() => opened.notebook.replay({ key: "k", hash: "b".repeat(64) }, PERSON)).toThrow(
    expect.objectContaining({ code: "IDEMPOTENCY_MISMATCH" }),
  );
});

test("while the index can't follow what was committed, no repeat is carried out again", async () => {
  const { store } = opened;
  const { commit, readBlob } = store;
  const unreadable = () => Promise.reject(new NotesError("STORAGE", "the disk has an error"));
  Object.assign(store, {
    commit: async (drafts: Parameters<typeof commit>[0]) => {
      Object.assign(store, { readBlob: unreadable, commit });
      return commit(drafts);
    },
  });
  const made = await write(create("Once"), "k");
  await expect(write(create("Once"), "k")).rejects.toMatchObject({ code: "STORAGE" });
  Object.assign(store, { readBlob });
  expect(await write(create("Once"), "k")).toMatchObject({ noteId: made.noteId, replayed: true });
  expect(total()).toBe(1);
});

/** Let the next commit of the store wait for `go`, and then fail if it is told to. */
function heldCommit() {
  const { store } = opened;
  const { commit } = store;
  let go: (fails?: boolean) => void = () => {};
  const began = new Promise<void>((begin) => {
    const held = async (drafts: Parameters<typeof commit>[0]) => {
      Object.assign(store, { commit });
      const fails = await new Promise<boolean>((resolve) => {
        go = (wanted = false) => resolve(wanted);
        begin();
      });
      if (fails) throw new NotesError("STORAGE", "the disk is full");
      return commit(drafts);
    };
    Object.assign(store, { commit: held });
  });
  return { began, go: (fails?: boolean) => go(fails) };
}

test("no refusal and no answer tells of a write of its group before that one is durable", async () => {
  const made = await write(create("Shared"));
  const revision = String(made.revision);
  const held = heldCommit();
  const settled: string[] = [];
  const told = <T>(name: string, work: Promise<T>) => {
    const note = () => void settled.push(name);
    work.then(note, note);
    return work;
  };
  const first = told("first", write(update(made.noteId, "new", revision)));
  const stale = told("stale", write(update(made.noteId, "newer", revision))).catch((error) => error);
  const same = told("same", write(update(made.noteId, "new")));
  const other = told("other", write(create("Beside")));
  await held.began;
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(settled).toEqual([]);
  held.go();
  const { revision: now, commit } = await first;
  expect(await stale).toMatchObject({ code: "CONFLICT", data: { revision: now } });
  expect(await same).toMatchObject({ changed: false, revision: now, commit });
  await other;
});

test("when the write that the others were planned on is not made, they are planned anew", async () => {
  const made = await write(create("Shared"));
  const revision = String(made.revision);
  const held = heldCommit();
  const first = write(update(made.noteId, "new", revision));
  const all = Promise.allSettled([
    first,
    write(update(made.noteId, "new")),
    write(update(made.noteId, "new", revision)),
    write(update("note_20260101_000000_aaaaaa" as NoteId, "x")),
  ]);
  await held.began;
  held.go(true);
  // The second makes the change now, and the third is on an old revision by that.
  expect(await all).toMatchObject([
    { reason: { code: "STORAGE" } },
    { value: { changed: true } },
    { reason: { code: "CONFLICT" } },
    { reason: { code: "NOT_FOUND" } },
  ]);
});

test("a note that an earlier write of the group deletes is gone, and the refusal names that commit", async () => {
  const made = await write(create("Short-lived"));
  const gone = write({ kind: "delete", noteId: made.noteId });
  const late = write(update(made.noteId, "x")).catch((error) => error);
  const { commit } = await gone;
  expect(await late).toMatchObject({ code: "NOT_FOUND", data: { deleted_in: commit } });
});
