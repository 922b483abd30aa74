/** Who may is asked when a write is planned: no other request slips in between, and none of the same group does. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { permitChange, permitRestore } from "../../../src/actions/rights.ts";
import type { Change } from "../../../src/domain/change.ts";
import { type MemoryKey, memoryId } from "../../../src/domain/identity.ts";
import type { NoteId } from "../../../src/domain/note.ts";
import type { Principal } from "../../../src/domain/principal.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { ada, coder, contextOf, planner } from "../../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
let nowMs: number;
beforeEach(async () => {
  nowMs = Date.parse("2026-11-30T10:00:00Z");
  opened = await openTestNotebook({ clock: { ...systemClock, now: () => nowMs } });
});
afterEach(() => opened.dispose());

const OWN: MemoryKey = { scope: "agent", ref: null, agent: "planner", key: "plan" };
const EVERYONES: MemoryKey = { scope: "workspace", ref: null, agent: null, key: "plan" };
const save = (memory: MemoryKey, value = "text", more: { expiresInHours?: number } = {}): Change => ({
  kind: "save",
  ...memory,
  value,
  pinned: false,
  expiresInHours: null,
  ...more,
});
const remove = (memory: MemoryKey): Change => ({ kind: "delete", noteId: memoryId(memory) });

type Wish = readonly [Principal, Change, at?: string];

/** @param at  of a restore: the commit that it is about */
async function asked([principal, change, at = ""]: Wish) {
  const context = { ...contextOf(opened.notebook, principal), method: "notes.delete", requestHash: null };
  const target = principal.kind === "person" ? "planner" : undefined;
  const permit =
    change.kind === "restore"
      ? permitRestore(await opened.notebook.noteThen(change.noteId, at, context.caller), context)
      : permitChange(change, target, context);
  return { request: { change, permit, reason: null, idempotency: null }, caller: context.caller };
}

/** Ask for changes, each as soon as the one before has its place in the queue: one group plans them. @returns each one's end */
async function together(...wishes: readonly Wish[]): Promise<string[]> {
  const ends: Promise<string>[] = [];
  for (const { request, caller } of await Promise.all(wishes.map(asked))) {
    await new Promise<void>((entered) => {
      const ended = opened.notebook.write(request, caller, entered).then(
        () => "done",
        (error) => String(error.data?.reason ?? error),
      );
      ends.push(ended);
      // Refused before it has a place.
      void ended.then(() => entered());
    });
  }
  return Promise.all(ends);
}

test("an agent that knows the id of another's memory takes it away at no moment, also not the first", async () => {
  expect(await together([planner, save(OWN)], [coder, remove(OWN)])).toEqual(["done", "other_memory"]);
  expect(await together([coder, remove(OWN)])).toEqual(["other_memory"]);
  expect(opened.notebook.metadata(memoryId(OWN))).not.toBe(null);
});

test("what is everyone's is its maker's to delete within the group that makes it", async () => {
  expect(
    await together(
      [planner, save(EVERYONES)],
      [coder, save(EVERYONES, "by coder")],
      [coder, remove(EVERYONES)],
    ),
  ).toEqual(["done", "done", "not_maker"]);
  expect(await together([planner, remove(EVERYONES)])).toEqual(["done"]);
});

test("whoever makes anew what was deleted is its maker from then on", async () => {
  expect(
    await together(
      [planner, save(EVERYONES)],
      [planner, remove(EVERYONES)],
      [coder, save(EVERYONES)],
      [planner, remove(EVERYONES)],
    ),
  ).toEqual(["done", "done", "done", "not_maker"]);
  expect(await together([planner, remove(EVERYONES)])).toEqual(["not_maker"]);
  expect(await together([coder, remove(EVERYONES)])).toEqual(["done"]);
});

test("a person takes away what an agent makes in the same group", async () => {
  expect(await together([planner, save(OWN)], [ada, remove(OWN)])).toEqual(["done", "done"]);
});

const HOUR_MS = 3_600_000;
const note = (memory: MemoryKey) => opened.notebook.metadata(memoryId(memory));

/** What is done to the note of an update alone. */
const update = (noteId: NoteId, more: { pinned?: boolean; expiresInHours?: number | null }): Change => ({
  ...{ kind: "update", noteId, onConflict: "fail" },
  ...more,
});

/** The change that brings a memory back as a commit has it. */
async function restoreAt(noteId: NoteId, commit: string): Promise<Change> {
  const { path, revision } = await opened.notebook.noteThen(
    noteId,
    commit,
    contextOf(opened.notebook).caller,
  );
  return { kind: "restore", noteId, path, revision };
}

/** The last commit of a note. */
async function lastCommit(noteId: NoteId): Promise<string> {
  const { items } = await opened.notebook.history({ noteId }, 1, null);
  return items[0]?.commit ?? "";
}

test("an agent makes nobody else's workspace memory its own by way of an expiry", async () => {
  const id = memoryId(EVERYONES);
  expect(
    await together(
      [planner, save(EVERYONES)],
      [coder, save(EVERYONES, "by coder", { expiresInHours: 1 })],
      [coder, update(id, { expiresInHours: 1e-7 })],
    ),
  ).toEqual(["done", "not_maker", "not_maker"]);
  expect(
    await together(
      [coder, save(EVERYONES, "by coder", { expiresInHours: 1 })],
      [coder, update(id, { expiresInHours: 1e-7 })],
      [coder, save(EVERYONES, "by coder")],
      [coder, remove(EVERYONES)],
    ),
  ).toEqual(["not_maker", "not_maker", "done", "not_maker"]);
  expect(note(EVERYONES)).toMatchObject({ agent_name: "planner", expires_at: null });
});

test("what its maker lets expire is free: whoever saves it then is its maker, and sets when it expires", async () => {
  await together([planner, save(EVERYONES, "text", { expiresInHours: 1 })]);
  nowMs += 2 * HOUR_MS;
  expect(
    await together(
      [coder, save(EVERYONES, "by coder", { expiresInHours: 1 })],
      [planner, save(EVERYONES, "again", { expiresInHours: 2 })],
      [coder, save(EVERYONES, "by coder", { expiresInHours: 3 })],
    ),
  ).toEqual(["done", "not_maker", "done"]);
  expect(note(EVERYONES)).toMatchObject({ agent_name: "coder" });
});

test("nobody brings back an expiry of another's workspace memory", async () => {
  const id = memoryId(EVERYONES);
  await together([planner, save(EVERYONES, "text", { expiresInHours: 1 })]);
  const commit = await lastCommit(id);
  await together([planner, save(EVERYONES, "for good")]);
  const back = await restoreAt(id, commit);
  expect(await together([coder, back, commit], [planner, back, commit])).toEqual(["not_maker", "done"]);
});

test("a memory that was brought back does not give way to one that is moved there in the same group", async () => {
  const other: MemoryKey = { ...OWN, key: "other" };
  await together([planner, save(OWN, "kept", { expiresInHours: 1 })], [planner, save(other)]);
  const commit = await lastCommit(memoryId(OWN));
  nowMs += 2 * HOUR_MS;
  const back = await restoreAt(memoryId(OWN), commit);
  const move: Change = { kind: "move", noteId: memoryId(other), ...OWN };
  expect(await together([planner, back, commit], [planner, move])).toEqual(["done", "path_taken"]);
  expect((await opened.notebook.read(memoryId(OWN), contextOf(opened.notebook).caller)).content).toBe("kept");
});

test.each([
  ["pin", { pinned: true }],
  ["expiry", { expiresInHours: 1 }],
])(
  "the %s that a person sets counts for what an agent brings back in the same group",
  async (_what, more) => {
    const made = await opened.notebook.write(
      {
        change: {
          ...{ kind: "create", title: "Plan", content: "text", noteType: "general", tags: [], extra: {} },
          ...{ pinned: false, expiresInHours: null, folder: null },
        },
        ...{ reason: null, idempotency: null },
      },
      contextOf(opened.notebook, planner).caller,
    );
    const back = await restoreAt(made.noteId, made.commit);
    expect(
      await together(
        [ada, update(made.noteId, more)],
        [coder, back, made.commit],
        [ada, update(made.noteId, { pinned: false, expiresInHours: null })],
        [coder, back, made.commit],
      ),
    ).toEqual(["done", "not_author", "done", "done"]);
  },
);
