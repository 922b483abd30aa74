/** Memory in a whole notebook: upserts, expiry, hand edits, and random saves against a plain Map. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../src/domain/change.ts";
import { agentIdOf, type MemoryKey, memoryId } from "../../src/domain/identity.ts";
import { memoryPath } from "../../src/domain/note-path.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { WriteOutcome } from "../../src/notebook/notebook.ts";
import type { Draft } from "../../src/store/note-store.ts";
import { type MemoryStore, openMemoryStore } from "../support/memory/memory-store.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../support/open-notebook.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 30, 10, 15);
let nowMs = START_MS;
let opened: TestNotebook;
/** Time stands still until a test moves it; what waits for a moment waits for a real one. */
const clock = { now: () => nowMs, after: systemClock.after };
beforeEach(async () => {
  nowMs = START_MS;
  opened = await openTestNotebook({ clock });
});
afterEach(() => opened.dispose());

type Save = Extract<Change, { kind: "save" }>;
const save = (wish: Partial<Save> = {}): Save => ({
  kind: "save",
  key: "color",
  value: "blue",
  scope: "agent",
  ref: null,
  agent: "planner",
  pinned: false,
  expiresInHours: null,
  ...wish,
});
const write = (change: Change, caller: Caller = agent("planner")): Promise<WriteOutcome> =>
  opened.notebook.write({ change, reason: null, idempotency: null }, caller);
const recall = (viewer: Parameters<typeof opened.notebook.recall>[0]["viewer"] = { kind: "person" }) =>
  opened.notebook.recall({ key: null, prefix: "", filter: {}, viewer, limit: 50 }).rows;
const subjects = async () => {
  const { items } = await opened.notebook.history({}, 50, null);
  return items.map(({ action, title }) => `${action} ${title}`);
};

test("a save is one commit under the key, is recalled at once, and the same again makes none", async () => {
  const first = await write(save());
  expect(first).toMatchObject({ created: true, changed: true, noteId: memoryId(save()), title: "color" });
  const { subject } = await opened.store.commitInfo(first.commit);
  expect(subject).toBe("save(agent): color");
  expect(recall()).toMatchObject([
    { value: "blue", note: { key: "color", agent_name: "planner", trust: "agent" } },
  ]);
  const again = await write(save());
  expect(again).toMatchObject({
    created: false,
    changed: false,
    commit: first.commit,
    revision: first.revision,
  });
  expect(await opened.store.tip()).toBe(first.commit);
  expect(await write(save({ value: "red" }))).toMatchObject({ created: false, changed: true });
  expect(recall()).toMatchObject([{ value: "red" }]);
});

/** Writes that come while an earlier one is being committed, in this order, and so are one group. */
async function together(changes: readonly Change[]): Promise<WriteOutcome[]> {
  const memory = openMemoryStore({ now: () => nowMs });
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const store: MemoryStore = Object.create(memory, {
    commit: {
      value: async (drafts: readonly Draft[]) => {
        await gate;
        groups.push(drafts.length);
        return memory.commit(drafts);
      },
    },
  });
  const groups: number[] = [];
  await opened.dispose();
  opened = await openTestNotebook({ clock, store });
  const caller = agent("planner");
  const enter = async (change: Change) => {
    const request = { change, reason: null, idempotency: null };
    let outcome: Promise<WriteOutcome> | undefined;
    await new Promise<void>((resolve) => {
      outcome = opened.notebook.write(request, caller, resolve);
    });
    return { outcome };
  };
  const first = await enter(save({ key: "in the way" }));
  // The first is being committed as soon as a turn has passed.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const entered = [];
  for (const change of changes) entered.push(await enter(change));
  open();
  await first.outcome;
  const outcomes = await Promise.all(entered.map(({ outcome }) => outcome));
  expect(groups.length).toBe(2);
  return outcomes.flatMap((outcome) => outcome ?? []);
}

test("saves of one new key in one group are one that makes it and others that update it, in order", async () => {
  const shared = { scope: "workspace", agent: null } as const;
  const outcomes = await together(["1", "2", "2", "3", "3"].map((value) => save({ ...shared, value })));
  expect(outcomes.map(({ created }) => created)).toEqual([true, false, false, false, false]);
  expect(outcomes.map(({ changed }) => changed)).toEqual([true, true, false, true, false]);
  expect(
    recall()
      .map(({ value }) => value)
      .sort(),
  ).toEqual(["3", "blue"]);
  expect(await subjects()).toEqual(["save color", "save color", "save color", "save in the way"]);
  // What an earlier one of the group had done already is answered by that one.
  expect(outcomes[4]?.commit).toBe(outcomes[3]?.commit);
  expect(outcomes[2]?.commit).toBe(outcomes[1]?.commit);
});

test("what is the same as an earlier one of its group, or finds nothing there, undoes no later one", async () => {
  const shared = save({ key: "other" });
  const gone: Change = { kind: "delete", noteId: memoryId(save()) };
  const outcomes = await together([
    shared,
    save({ key: "other" }),
    { ...shared, value: "red" },
    save(),
    gone,
  ]);
  expect(outcomes.map(({ changed }) => changed)).toEqual([true, false, true, true, true]);
  expect(recall().map(({ note, value }) => [note.key, value])).toContainEqual(["other", "red"]);
  const late = together([save(), gone, gone, save({ value: "last" })]);
  await expect(late).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect.poll(() => recall().map(({ value }) => value)).toContain("last");
});

test("a save, a delete and a save of one key in one group leave the last, which is new", async () => {
  const change: Change = { kind: "delete", noteId: memoryId(save()) };
  const [first, gone, last] = await together([save(), change, save({ value: "red" })]);
  expect([first?.created, gone?.path, last?.created]).toEqual([true, null, true]);
  expect(recall().map(({ value }) => value)).toContain("red");
});

test("a memory that has expired is free: who saves it then made it, and it is as old as that", async () => {
  const shared = { scope: "workspace", agent: null } as const;
  await write(save({ ...shared, expiresInHours: 1 }), agent("planner"));
  nowMs += HOUR_MS;
  expect(opened.notebook.memory({ ...shared, ref: null, key: "color" })).toBeNull();
  expect(recall()).toEqual([]);
  const again = await write(save({ ...shared, value: "red" }), agent("coder"));
  expect(again).toMatchObject({ created: true, changed: true, createdAt: new Date(nowMs).toISOString() });
  expect(recall()).toMatchObject([
    {
      value: "red",
      note: { agent_name: "coder", created_at: new Date(nowMs).toISOString(), expires_at: null },
    },
  ]);
  expect(await opened.notebook.verify()).toMatchObject({ equal: true });
  // An update of it stays its maker's.
  nowMs += HOUR_MS;
  await write(save({ ...shared, value: "green" }), agent("planner"));
  expect(recall()).toMatchObject([{ value: "green", note: { agent_name: "coder" } }]);
});

test("a person's file at a memory's path is that memory: a save commits it first, and changes it in its own style", async () => {
  const path = memoryPath(save());
  opened.store.person.save(path, "---\n# mine\npinned: yes\n---\nfrom hand\n");
  const outcome = await write(save({ value: "blue", pinned: true }));
  expect(outcome).toMatchObject({ created: false, noteId: memoryId(save()) });
  expect(opened.store.person.text(path)).toBe("---\n# mine\npinned: yes\n---\nblue\n");
  expect(await subjects()).toEqual(["save color", "create color"]);
});

test("a file there that can't be read as a note refuses the save with where and why", async () => {
  const path = memoryPath(save());
  opened.store.person.save(path, "---\nkey: a: b: c\n---\nx");
  await expect(write(save())).rejects.toMatchObject({ code: "INVALID_NOTE", data: { path, line: 2 } });
  expect(opened.notebook.memory(save())).toBeNull();
});

test("a hand edit of the words that name a memory is told, and the path is obeyed", async () => {
  const made = await write(save({ scope: "workspace", agent: null }));
  const path = made.path ?? "";
  const before = opened.store.person.text(path) ?? "";
  const edited = before
    .replace("key: color", "key: tone\nscope: agent\nagent_name: coder")
    .replace(/^id: .*$/m, "id: x");
  opened.store.person.save(path, edited);
  await opened.disk.scanAll("asked");
  await opened.notebook.settle();
  expect(opened.store.person.text(path)).toBe(edited);
  expect(recall()).toMatchObject([
    {
      value: "blue",
      note: { note_id: made.noteId, key: "color", scope: "workspace", agent_name: "planner" },
    },
  ]);
  const { reported } = await opened.notebook.status();
  expect(reported).toMatchObject([{ path, reason: expect.stringContaining('key says "tone"') }]);
  const { problems, equal } = await opened.notebook.verify();
  expect(equal).toBe(true);
  expect(problems).toMatchObject([{ kind: "disagrees", path }]);
  // The next save puts the words right, and nothing is left to tell.
  await write(save({ scope: "workspace", agent: null, value: "red" }));
  expect((await opened.notebook.status()).reported).toEqual([]);
});

test("a memory that a person moves to another path is another memory, and the commit names both", async () => {
  const { path, noteId } = await write(save({ scope: "workspace", agent: null }));
  const moved = { scope: "workspace", agent: null, ref: null, key: "moved" } as const;
  opened.store.person.save(memoryPath(moved), opened.store.person.text(path ?? ""));
  opened.store.person.save(path ?? "", null);
  await opened.disk.scanAll("asked");
  // A deletion is believed once it is a second old.
  nowMs += 2_000;
  const [commit] = await opened.notebook.settle();
  if (commit === undefined) throw new Error("nothing was committed");
  const { proved } = await opened.store.commitInfo(commit);
  expect([...(proved?.noteIds ?? [])].sort()).toEqual([noteId, memoryId(moved)].sort());
  expect(recall()).toMatchObject([
    { value: "blue", note: { note_id: memoryId(moved), key: "moved", agent_name: null } },
  ]);
  expect(opened.notebook.memory(save({ scope: "workspace", agent: null }))).toBeNull();
});

test("a pin that a stranger pushed counts once its agent saves it, also with the same value", async () => {
  const path = memoryPath(save());
  opened.store.person.commit({ [path]: "---\npinned: true\n---\n\nblue\n" });
  await opened.disk.headMoved();
  expect(recall()).toMatchObject([{ note: { pinned: false, trust: "pushed" } }]);
  expect(await write(save({ pinned: true }))).toMatchObject({ changed: true, created: false });
  expect(recall()).toMatchObject([{ value: "blue", note: { pinned: true, trust: "agent" } }]);
  expect(await write(save({ pinned: true }))).toMatchObject({ changed: false });
});

test("subscribers hear of saves as of any change", async () => {
  const heard: string[] = [];
  await opened.notebook.subscribe(
    { changed: (c) => void heard.push(`${c.action} ${c.title} ${c.fields}`), lagged() {}, failed() {} },
    { scope: "agent" },
    null,
    PERSON,
  );
  await write(save({ pinned: true }));
  await write(save({ value: "red" }));
  await expect
    .poll(() => heard)
    .toEqual(["save color title,type,scope,key,pinned,content", "save color pinned,content"]);
});

interface Held {
  value: string;
  pinned: boolean;
  expiresMs: number;
  updatedMs: number;
}
const NAMES: readonly MemoryKey[] = [
  { scope: "workspace", ref: null, agent: null, key: "a" },
  { scope: "workspace", ref: null, agent: null, key: "記憶 ".repeat(50) },
  { scope: "agent", ref: null, agent: "planner", key: "a" },
  { scope: "agent", ref: null, agent: "coder", key: "a" },
  { scope: "thread", ref: "T-1", agent: "planner", key: "../x" },
  { scope: "person", ref: "T-1", agent: "planner", key: "../x" },
];
const idOf = (name: number) => {
  const names = NAMES[name];
  return names === undefined ? null : memoryId(names);
};
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("save" as const),
      name: fc.nat({ max: NAMES.length - 1 }),
      value: fc.constantFrom("", "x", "y\n", "---\na: b\n---\n"),
      pinned: fc.boolean(),
      hours: fc.constantFrom(null, null, 1, 3),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("delete" as const), name: fc.nat({ max: NAMES.length - 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.constantFrom(1, 2) }) },
);

test("random saves, deletes and waits answer and leave what a plain Map says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
      const book = await openTestNotebook({ clock });
      const model = new Map<number, Held>();
      try {
        for (const one of operations) {
          nowMs += 1_000;
          if (one.kind === "wait") {
            nowMs += one.hours * HOUR_MS;
            continue;
          }
          const names = NAMES[one.name];
          if (names === undefined) throw new Error("no such name");
          const held = model.get(one.name);
          const live = held !== undefined && held.expiresMs > nowMs ? held : undefined;
          const ask = (change: Change) =>
            book.notebook.write({ change, reason: null, idempotency: null }, agent(names.agent ?? "planner"));
          if (one.kind === "delete") {
            const asked = ask({ kind: "delete", noteId: memoryId(names) });
            if (live) await asked;
            else await expect(asked).rejects.toMatchObject({ code: "NOT_FOUND" });
            if (live) model.delete(one.name);
            continue;
          }
          const { value, pinned, hours } = one;
          const expiresMs = hours === null ? Number.POSITIVE_INFINITY : nowMs + hours * HOUR_MS;
          const outcome = await ask({ kind: "save", ...names, value, pinned, expiresInHours: hours });
          const changed =
            !live || live.value !== value || live.pinned !== pinned || live.expiresMs !== expiresMs;
          expect([outcome.created, outcome.changed]).toEqual([!live, changed]);
          if (changed) model.set(one.name, { value, pinned, expiresMs, updatedMs: nowMs });
        }
        const wanted = [...model]
          .filter(([, { expiresMs }]) => expiresMs > nowMs)
          .sort(([, a], [, b]) => Number(b.pinned) - Number(a.pinned) || b.updatedMs - a.updatedMs)
          .map(([name, { value, pinned }]) => [idOf(name), value, pinned]);
        const { rows } = book.notebook.recall({
          key: null,
          prefix: "",
          filter: {},
          viewer: { kind: "person" },
          limit: 50,
        });
        expect(rows.map(({ note, value }) => [note.note_id, value, note.pinned])).toEqual(wanted);
        const own = book.notebook.recall({
          key: null,
          prefix: "",
          filter: {},
          viewer: { kind: "agent", agentId: agentIdOf("coder") },
          limit: 50,
        }).rows;
        expect(own.every(({ note }) => note.scope === "workspace" || note.agent_name === "coder")).toBe(true);
        expect(await book.notebook.verify()).toMatchObject({ equal: true, problems: [] });
      } finally {
        await book.dispose();
      }
    }),
    { numRuns: 30 },
  );
});
