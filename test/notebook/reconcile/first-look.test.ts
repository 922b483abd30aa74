import { expect, test } from "vitest";
import type { NoteId, RepoPath } from "../../../src/domain/note.ts";
import { createFirstLook } from "../../../src/notebook/reconcile/first-look.ts";
import { openMemoryStore } from "../../support/memory/memory-store.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";

const planner = agent("planner");
const text = (id: string, body: string) => Buffer.from(`---\nid: ${id}\ntitle: ${id}\n---\n\n${body}\n`);
const at = (id: string) => `notes/${id}.md` as RepoPath;

/** Two notes that an earlier run knew, and a daemon that has not looked at the files yet. */
async function starting(): Promise<TestNotebook> {
  const store = openMemoryStore({ proofKey: new Uint8Array(32) });
  const before = await openTestNotebook({ store });
  for (const id of ["n-1", "n-2"]) store.workTree.put(at(id), text(id, "old"));
  await before.disk.scanAll("asked");
  await before.notebook.settle();
  await before.notebook.close();
  return openTestNotebook({ store, stateDir: before.stateDir, filesFirst: true });
}

const create = (on: TestNotebook) =>
  on.notebook.write(
    {
      change: {
        kind: "create",
        title: "New",
        content: "text",
        noteType: "general",
        tags: [],
        extra: {},
        pinned: false,
        expiresInHours: null,
        folder: null,
      },
      reason: null,
      idempotency: null,
    },
    planner,
  );

/** Everything that can go on without the disk has gone on. */
const calm = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("until every file was looked at notes are read and listed, and writes wait", async () => {
  const on = await starting();
  expect((await on.notebook.status()).watching).toMatch(/^starting/);
  let written = false;
  const write = create(on).then((outcome) => {
    written = true;
    return outcome;
  });
  expect((await on.notebook.read("n-1", planner)).content).toContain("old");
  expect((await on.notebook.status()).notes).toBe(2);
  await calm();
  expect(written).toBe(false);
  await on.disk.scanAll("start");
  expect((await write).changed).toBe(true);
  await on.dispose();
});

test("a note whose file was edited meanwhile is read with that edit, after the look", async () => {
  const on = await starting();
  on.store.workTree.put(at("n-1"), text("n-1", "edited while nobody ran"));
  let content = "";
  const read = on.notebook.read("n-1", PERSON).then((note) => {
    content = note.content;
  });
  expect((await on.notebook.read("n-2", PERSON)).content).toContain("old");
  await calm();
  expect(content).toBe("");
  await on.disk.scanAll("start");
  await read;
  expect(content).toContain("edited while nobody ran");
  await on.dispose();
});

test("a note that was renamed meanwhile keeps its id, though it is read before the look", async () => {
  const on = await starting();
  on.store.workTree.put(at("n-1"), null);
  on.store.workTree.put(at("moved"), text("n-1", "old"));
  const read = on.notebook.read("n-1", PERSON);
  await calm();
  await on.disk.scanAll("start");
  expect((await read).metadata.path).toBe(at("moved"));
  expect(on.notebook.metadata("n-1" as NoteId)?.note_id).toBe("n-1");
  await on.dispose();
});

test("a look that fails refuses the writes that wait, and the next one lets writes through", async () => {
  const on = await starting();
  const { scan } = on.store.workTree;
  const broken = new Error("the disk is broken");
  on.store.workTree.scan = async () => Promise.reject(broken);
  const refused = expect(create(on)).rejects.toBe(broken);
  await expect(on.disk.scanAll("start")).rejects.toBe(broken);
  await refused;
  on.store.workTree.scan = scan;
  const write = create(on);
  await on.disk.scanAll("interval");
  expect((await write).changed).toBe(true);
  await on.dispose();
});

test("a note is read though its file can't be looked at", async () => {
  const on = await starting();
  const { scan } = on.store.workTree;
  let looks = 0;
  on.store.workTree.scan = async (paths) => {
    if (looks++ === 0) throw new Error("the disk is broken");
    return scan.call(on.store.workTree, paths);
  };
  expect((await on.notebook.read("n-1", PERSON)).content).toContain("old");
  await on.dispose();
});

test("a stop before the look answers the writes that wait", async () => {
  const on = await starting();
  const refused = expect(create(on)).rejects.toMatchObject({ code: "OVERLOADED" });
  await on.dispose();
  await refused;
});

test("more than may wait are refused at once", async () => {
  const look = createFirstLook(true, 1);
  const waits = look.wait();
  await expect(look.wait()).rejects.toMatchObject({ code: "OVERLOADED" });
  await look.follow(Promise.resolve());
  await waits;
  expect(look.done).toBe(true);
});
