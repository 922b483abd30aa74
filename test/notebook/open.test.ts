import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Change } from "../../src/domain/change.ts";
import { NotesError } from "../../src/domain/errors.ts";
import type { NoteId } from "../../src/domain/note.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { restoreNoteIndex } from "../../src/index/create.ts";
import type { WriteOutcome } from "../../src/notebook/notebook.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const create = (title: string, content = "text"): Extract<Change, { kind: "create" }> => ({
  kind: "create",
  title,
  content,
  noteType: "general",
  tags: [],
  extra: {},
  pinned: false,
  expiresInHours: null,
  folder: null,
});
const update = (noteId: NoteId, content: string): Change => ({
  kind: "update",
  noteId,
  content,
  onConflict: "fail",
});

function write(
  change: Change,
  caller: Caller = PERSON,
  key?: string,
  hash = "a".repeat(64),
): Promise<WriteOutcome> {
  return opened.notebook.write(
    { change, reason: null, idempotency: key === undefined ? null : { key, hash } },
    caller,
  );
}

const code = (name: string) => expect.objectContaining({ code: name });

test("an index that a start had to rebuild is kept, though nothing is written after it", async () => {
  const made = await write(create("First"));
  const checkpoint = join(opened.stateDir, "checkpoint");
  opened = await opened.reopen();
  rmSync(checkpoint);
  opened = await opened.reopen();
  const kept = restoreNoteIndex(readFileSync(checkpoint));
  expect(kept?.head).toBe(made.commit);
  expect(kept?.get(made.noteId)?.title).toBe("First");
});

describe("a write", () => {
  test("is one commit, is read back at once, and says who made it", async () => {
    const made = await write(create("First", "hello"), agent("planner"));
    const read = await opened.notebook.read(made.noteId, PERSON);
    expect(read).toMatchObject({
      content: "hello",
      metadata: { title: "First", agent_name: "planner", trust: "agent", revision: made.revision },
    });
    expect(await opened.store.tip()).toBe(made.commit);
  });

  test("that changes nothing makes no commit and says so", async () => {
    const made = await write(create("First", "hello"));
    const again = await write(update(made.noteId, "hello"));
    expect(again).toMatchObject({ changed: false, commit: made.commit, revision: made.revision });
    expect(await opened.store.tip()).toBe(made.commit);
  });

  test("of many at once on one note chains: each is a commit and the last one wins", async () => {
    const made = await write(create("Counter", "0"));
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) => write(update(made.noteId, `${i + 1}`))),
    );
    expect(new Set(all.map(({ commit }) => commit)).size).toBe(40);
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe("40");
    const { items } = await opened.notebook.history({ noteId: made.noteId }, 100, null);
    expect(items.map(({ action }) => action)).toEqual([
      ...Array.from({ length: 40 }, () => "update"),
      "create",
    ]);
  });

  test.each(["docs", "../x", ".git/x", "notes/.hidden", "/notes"])(
    "of a new note into %s is refused alone: nobody would see it there, and the others of its group are committed",
    async (folder) => {
      const [refused, made] = await Promise.allSettled([
        write({ ...create("Astray"), folder }),
        write({ ...create("At home"), folder: "notes/work" }),
      ]);
      expect(refused).toMatchObject({
        status: "rejected",
        reason: { code: "INVALID_PARAMS", data: { issues: [{ path: "folder" }] } },
      });
      expect(made).toMatchObject({ status: "fulfilled" });
      expect(
        opened.notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 9, cursor: null }).total,
      ).toBe(1);
    },
  );

  test("to a note that an earlier write of the same group deletes is NOT_FOUND", async () => {
    const made = await write(create("Short-lived"));
    const results = await Promise.allSettled([
      write({ kind: "delete", noteId: made.noteId }),
      write(update(made.noteId, "x")),
    ]);
    expect(results).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "NOT_FOUND" } },
    ]);
  });

  test("of 300 creates at once gives 300 ids and puts at most 128 notes into a folder", async () => {
    const all = await Promise.all(Array.from({ length: 300 }, (_, i) => write(create(`Note ${i}`))));
    expect(new Set(all.map(({ noteId }) => noteId)).size).toBe(300);
    const folders = new Map<string, number>();
    for (const { path } of all) {
      const folder = String(path).slice(0, String(path).lastIndexOf("/"));
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
    expect([...folders.values()].sort((a, b) => b - a)).toEqual([128, 128, 44]);
  });

  test("on an old revision is a conflict with the merged text, which one call then sends", async () => {
    const made = await write(create("Plan", "one\n\ntwo\n\nthree"));
    await write(update(made.noteId, "ONE\n\ntwo\n\nthree"));
    const late: Change = {
      ...update(made.noteId, "one\n\ntwo\n\nTHREE"),
      ifRevision: String(made.revision),
    } as Change;
    const error = await write(late).catch((e) => e);
    expect(error).toMatchObject({ code: "CONFLICT", data: { merged: "ONE\n\ntwo\n\nTHREE" } });
    const mended = { ...update(made.noteId, error.data.merged), ifRevision: error.data.revision } as Change;
    expect(await write(mended)).toMatchObject({ changed: true });
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe("ONE\n\ntwo\n\nTHREE");
  });
});

describe("an idempotency key", () => {
  test("takes effect once, also after a restart", async () => {
    const first = await write(create("Once"), PERSON, "k1");
    expect(await write(create("Once"), PERSON, "k1")).toMatchObject({ noteId: first.noteId, replayed: true });
    opened = await opened.reopen();
    expect(await write(create("Once"), PERSON, "k1")).toMatchObject({
      noteId: first.noteId,
      commit: first.commit,
      revision: first.revision,
      replayed: true,
    });
  });

  test("joins a repeat that is in flight", async () => {
    const [a, b] = await Promise.all([
      write(create("Once"), PERSON, "k"),
      write(create("Once"), PERSON, "k"),
    ]);
    expect(a.noteId).toBe(b.noteId);
    expect(
      opened.notebook.list({ filter: {}, viewer: { kind: "person" }, limit: 10, cursor: null }).total,
    ).toBe(1);
  });

  test("with other parameters is a mismatch, also in flight", async () => {
    const both = await Promise.allSettled([
      write(create("Once"), PERSON, "k"),
      write(create("Other"), PERSON, "k", "b".repeat(64)),
    ]);
    expect(both).toMatchObject([{ status: "fulfilled" }, { reason: code("IDEMPOTENCY_MISMATCH") }]);
    await expect(write(create("Other"), PERSON, "k", "b".repeat(64))).rejects.toEqual(
      code("IDEMPOTENCY_MISMATCH"),
    );
  });

  test("is the principal's own: two agents may use the same", async () => {
    const a = await write(create("A"), agent("a"), "k");
    const b = await write(create("B"), agent("b"), "k");
    expect(a.noteId).not.toBe(b.noteId);
  });

  test("of a write that changes nothing is remembered in an empty commit", async () => {
    const made = await write(create("Same", "x"));
    const same = await write(update(made.noteId, "x"), PERSON, "k");
    expect(same).toMatchObject({ changed: false, revision: made.revision });
    expect(same.commit).not.toBe(made.commit);
    expect(await write(update(made.noteId, "x"), PERSON, "k")).toMatchObject({
      replayed: true,
      commit: same.commit,
    });
  });

  test("of a failed write is not remembered", async () => {
    const change = update("note_20260101_000000_aaaaaa" as NoteId, "x");
    await expect(write(change, PERSON, "k")).rejects.toEqual(code("NOT_FOUND"));
    await expect(write(create("Now"), PERSON, "k", "b".repeat(64))).resolves.toMatchObject({
      replayed: false,
    });
  });
});

describe("a person's save", () => {
  test("is committed before a door reads or writes the note", async () => {
    const made = await write(create("Shared", "from the agent"));
    const text = opened.store.person.text(String(made.path)) ?? "";
    opened.store.person.save(String(made.path), text.replace("from the agent", "from the person"));
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe("from the person");

    opened.store.person.save(String(made.path), text.replace("from the agent", "from the person again"));
    await write({ kind: "append", noteId: made.noteId, content: "from the agent" });
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe(
      "from the person again\nfrom the agent",
    );
    const { items } = await opened.notebook.history({ noteId: made.noteId }, 10, null);
    expect(items.map(({ action, source }) => [action, source])).toEqual([
      ["append", "api"],
      ["update", "disk"],
      ["update", "disk"],
      ["create", "api"],
    ]);
  });
});

describe("after its commit point a write is never answered as if it had not happened", () => {
  const warned: string[] = [];
  beforeEach(async () => {
    await opened.dispose();
    warned.length = 0;
    opened = await openTestNotebook({ warn: (message) => warned.push(message) });
  });
  const full = () => Promise.reject(new NotesError("STORAGE", "the disk is full"));

  test("when the index can't follow it at once; the index follows with the next write", async () => {
    const { store } = opened;
    const { commit, readBlob } = store;
    Object.assign(store, {
      commit: async (drafts: Parameters<typeof commit>[0]) => {
        Object.assign(store, { readBlob: full, commit });
        return commit(drafts);
      },
    });
    const made = await write(create("First", "hello"));
    expect(await store.tip()).toBe(made.commit);
    expect(warned).toEqual([expect.stringContaining("index")]);
    Object.assign(store, { readBlob });
    await write(create("Second"));
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe("hello");
  });

  test("when a conflict that it resolved can't be dropped yet", async () => {
    const made = await write(create("First", "hello"));
    const tip = opened.store.tip;
    await opened.store.keepConflict(
      {
        note_id: made.noteId,
        path: made.path ?? "",
        base: null,
        ours: null,
        theirs: "f".repeat(40),
        since: "",
      } as never,
      undefined,
    );
    Object.assign(opened.store, { dropConflicts: full });
    const updated = await write(update(made.noteId, "both"));
    expect(await tip()).toBe(updated.commit);
    expect(warned).toEqual([expect.stringContaining("conflict")]);
  });
});

describe("a person's save that does not merge with the branch", () => {
  let made: WriteOutcome;
  const path = () => String(made.path);
  const onDisk = () => opened.store.person.text(path());
  beforeEach(async () => {
    made = await write(create("Shared", "one"));
    const text = onDisk() ?? "";
    opened.store.person.commit({ [path()]: text.replace("one", "ours") });
    opened.store.person.save(path(), text.replace("one", "theirs"));
    await opened.disk.headMoved();
  });

  test("stays in its file, is listed, and leaves reads with the branch's text", async () => {
    const read = await opened.notebook.read(made.noteId, PERSON);
    expect(read).toMatchObject({ content: "ours", dirty: true, conflicted: true });
    expect(onDisk()).toContain("theirs");
    const [kept, ...others] = await opened.notebook.conflicts(made.noteId);
    expect(others).toEqual([]);
    expect(kept && (await opened.notebook.blobText(kept.theirs))).toBe(onDisk());
  });

  test("is not touched by a write that doesn't resolve it", async () => {
    await opened.notebook.read(made.noteId, PERSON);
    await expect(write({ kind: "append", noteId: made.noteId, content: "more" })).rejects.toMatchObject({
      code: "CONFLICT",
      data: { reason: "held_edit", path: path() },
    });
    expect(onDisk()).toContain("theirs");
  });

  test("doesn't keep a request that was carried out before from its answer", async () => {
    const append: Change = { kind: "append", noteId: made.noteId, content: "more" };
    await write(update(made.noteId, "both"));
    const first = await write(append, PERSON, "once");
    const text = onDisk() ?? "";
    opened.store.person.commit({ [path()]: text.replace("more", "branch") });
    opened.store.person.save(path(), text.replace("more", "disk"));
    await opened.disk.headMoved();
    await expect(write(append, PERSON, "twice")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await write(append, PERSON, "once")).toMatchObject({ commit: first.commit, replayed: true });
  });

  test.each(["both", "ours"])("is resolved by an update to %s", async (content) => {
    await opened.notebook.read(made.noteId, PERSON);
    await write(update(made.noteId, content));
    expect(await opened.notebook.read(made.noteId, PERSON)).toMatchObject({
      content,
      dirty: false,
      conflicted: false,
    });
    expect(onDisk()).toContain(content);
    expect(await opened.notebook.conflicts()).toEqual([]);
  });

  test.each(["README.md", "../notes/x.md", "notes/x.txt", "notes/.hidden.md"])(
    "of %s, which is no note, is refused and says what notes are",
    async (path) => {
      await expect(opened.notebook.settle([path])).rejects.toMatchObject({
        code: "INVALID_PARAMS",
        data: { issues: [{ path: "paths" }] },
      });
    },
  );

  test("is what the note becomes when the person commits it", async () => {
    await opened.notebook.settle();
    expect(await opened.notebook.read(made.noteId, PERSON)).toMatchObject({
      content: "theirs",
      dirty: false,
      conflicted: false,
    });
  });
});

test("a file without an id that a person renames keeps its note", async () => {
  opened.store.person.save("notes/old.md", "# Kept\n");
  await opened.disk.scanAll("asked");
  await opened.notebook.settle();
  const [note] = opened.notebook.list({
    filter: {},
    viewer: { kind: "person" },
    limit: 1,
    cursor: null,
  }).items;
  opened.store.person.save("notes/old.md", null);
  opened.store.person.save("notes/new.md", "# Kept\n");
  await opened.disk.scanAll("asked");
  await opened.notebook.settle();
  expect((await opened.notebook.read(String(note?.note_id), PERSON)).metadata.path).toBe("notes/new.md");
  const { items } = await opened.notebook.history({}, 10, null);
  expect(items.map(({ action }) => action)).toEqual(["rename", "create"]);
});

describe("what happened elsewhere", () => {
  test("a commit of a person's own below a write is folded with it", async () => {
    const made = await write(create("First"));
    opened.store.person.commit({ "notes/own.md": "# Own\n\nby hand\n" });
    const second = await write(create("Second"));
    const titles = opened.notebook
      .list({ filter: {}, viewer: { kind: "person" }, limit: 10, cursor: null })
      .items.map(({ title }) => title);
    expect(titles.sort()).toEqual(["First", "Own", "Second"]);
    expect(await opened.notebook.verify()).toMatchObject({ equal: true });
    expect(second.commit).not.toBe(made.commit);
  });

  test("the notebook can be read as it was", async () => {
    const made = await write(create("Old title", "old"));
    await write(update(made.noteId, "new"));
    expect((await opened.notebook.read(made.noteId, PERSON, made.commit)).content).toBe("old");
    expect((await opened.notebook.read(made.noteId, PERSON)).content).toBe("new");
  });
});

test("after close no write is taken, and what was accepted is done", async () => {
  const pending = write(create("Accepted"));
  await Promise.all([pending, opened.notebook.close()]);
  await expect(write(create("Late"))).rejects.toEqual(code("OVERLOADED"));
});
