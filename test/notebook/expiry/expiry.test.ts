/** Notes that expire: hidden at their instant, removed a little later by a commit of the daemon's own. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import { COMMITTER } from "../../../src/domain/commit-message.ts";
import { NotesError } from "../../../src/domain/errors.ts";
import type { NoteId, RepoPath } from "../../../src/domain/note.ts";
import type { Caller } from "../../../src/domain/principal.ts";
import type { WriteOutcome } from "../../../src/notebook/notebook.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";
import { until } from "../../support/wait.ts";

const HOUR_MS = 3_600_000;
let clock: FakeClock;
let on: TestNotebook;
let warnings: string[];
beforeEach(async () => {
  clock = fakeClock();
  warnings = [];
  on = await openTestNotebook({ clock, warn: (message) => void warnings.push(message) });
});
afterEach(async () => {
  await driven(on.dispose());
});

/** Time goes on in small steps while something is waited for. */
async function driven<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  await until("the work to end", () => {
    if (!over) clock.advance(20);
    return over;
  });
  return work;
}

const write = (change: Change, caller: Caller = agent("planner")) =>
  driven(on.notebook.write({ change, reason: null, idempotency: null }, caller));
const make = (title: string, expiresInHours: number | null, content = `text of ${title}`) =>
  write({
    ...{ kind: "create", title, content, noteType: "general", tags: [], extra: {} },
    ...{ pinned: false, expiresInHours, folder: null },
  });
const read = (id: string, at?: string) => on.notebook.read(id, PERSON, at);
const viewer = { kind: "person" } as const;
const titles = () =>
  on.notebook.list({ filter: {}, viewer, limit: 50, cursor: null }).items.map((n) => n.title);
const found = (query: string | null) =>
  on.notebook.search(
    { query, mode: "ranked", fields: "title-body-tags", filter: {}, viewer, limit: 50 },
    PERSON,
  );
const historyOf = async (noteId: NoteId) => (await on.notebook.history({ noteId }, 20, null)).items;
const swept = (noteId: NoteId) =>
  until(`${noteId} to be swept`, () => {
    clock.advance(250);
    return on.notebook.metadata(noteId) === null;
  });

test("from its instant on nobody sees it, but in history; then it is removed in the daemon's name", async () => {
  const { noteId, commit } = await make("Short lived", 1);
  await make("Stays", null);
  const expiresAt = new Date(clock.now() + HOUR_MS).toISOString();
  expect(on.notebook.metadata(noteId)?.expires_at?.slice(0, 19)).toBe(expiresAt.slice(0, 19));
  clock.advance(HOUR_MS - 5_000);
  expect(titles()).toEqual(["Stays", "Short lived"]);
  const due = Date.parse(on.notebook.metadata(noteId)?.expires_at ?? "");
  clock.advance(due - clock.now());

  const at = new Date(due).toISOString();
  await expect(read(noteId)).rejects.toMatchObject({ code: "NOT_FOUND", data: { expired_at: at } });
  expect(titles()).toEqual(["Stays"]);
  expect(await found("short")).toEqual({ rows: [], total: 0 });
  expect(await found(null)).toMatchObject({ total: 1 });
  expect(on.notebook.summary(viewer)).toMatchObject({ total_notes: 1, by_agent: { planner: 1 } });
  expect(await on.notebook.status()).toMatchObject({ notes: 1 });
  for (const change of [
    { kind: "update", noteId, content: "y", onConflict: "fail" },
    { kind: "append", noteId, content: "y" },
    { kind: "edit", noteId, oldStr: "text", newStr: "y" },
    { kind: "delete", noteId },
  ] as const)
    await expect(write(change, PERSON)).rejects.toMatchObject({ code: "NOT_FOUND" });
  // What it was stays history's.
  expect(await read(noteId, commit)).toMatchObject({ content: "text of Short lived" });
  expect(await on.notebook.blame(noteId, undefined, PERSON)).toMatchObject({ noteId });
  expect((await on.notebook.verify()).equal).toBe(true);

  await swept(noteId);
  const [last] = await historyOf(noteId);
  expect(last).toMatchObject({
    action: "expire",
    reason: `expired ${at}`,
    source: "api",
    trust: "agent",
    agentName: null,
    authorName: COMMITTER.name,
    revision: null,
  });
  await expect(read(noteId)).rejects.toMatchObject({ data: { deleted_in: last?.commit } });
  expect(titles()).toEqual(["Stays"]);
  expect(warnings).toEqual([]);
});

test("what is kept as a conflict of it is hidden with it", async () => {
  const { noteId, path, revision } = await make("Clash", 1);
  if (path === null || revision === null) throw new Error("nothing was made");
  const since = new Date(clock.now()).toISOString();
  const clash = { note_id: noteId, path, base: null, ours: revision, theirs: revision, since };
  await on.store.keepConflict(clash, Buffer.from("theirs"));
  expect(await on.notebook.conflicts()).toHaveLength(1);
  clock.advance(HOUR_MS);
  on.store.person.setState({ state: "merge", path: "MERGE_HEAD" });
  expect(await on.notebook.conflicts()).toEqual([]);
  expect(await on.notebook.conflicts(noteId)).toEqual([]);
  on.store.person.setState(null);
  await swept(noteId);
});

test("it can be restored, before it is removed and after, and then does not expire again", async () => {
  for (const late of [false, true]) {
    const { noteId, path, revision } = await make(`Back ${late}`, 1);
    if (path === null || revision === null) throw new Error("nothing was made");
    clock.advance(HOUR_MS + 10);
    if (late) await swept(noteId);
    await write({ kind: "restore", noteId, path, revision }, PERSON);
    expect(await read(noteId)).toMatchObject({
      content: `text of Back ${late}`,
      metadata: { expires_at: null },
    });
    clock.advance(48 * HOUR_MS);
    await driven(on.notebook.settle());
    expect((await historyOf(noteId)).map(({ action }) => action)[0]).toBe("restore");
  }
});

test("who may bring it back is asked as of a deleted note, also before it is removed", async () => {
  const { noteId, path, revision } = await make("Whose", 1);
  if (path === null || revision === null) throw new Error("nothing was made");
  const asked: unknown[] = [];
  const restore = () =>
    driven(
      on.notebook.write(
        {
          change: { kind: "restore", noteId, path, revision },
          permit: (now) => void asked.push(now?.note_id ?? null),
          ...{ reason: null, idempotency: null },
        },
        agent("other"),
      ),
    );
  await restore();
  clock.advance(HOUR_MS + 10);
  await restore();
  await restore();
  expect(asked).toEqual([noteId, null, noteId]);
});

test("subscribers hear of it with the note as it was", async () => {
  const { noteId } = await make("Told of", 1);
  const start = on.notebook.changes(await cursor(), 10, {}, PERSON);
  const { cursor: since } = await start;
  clock.advance(HOUR_MS + 10);
  await swept(noteId);
  const { changes } = await on.notebook.changes(since, 10, {}, PERSON);
  expect(changes).toMatchObject([
    { action: "expire", note_id: noteId, title: "Told of", trust: "agent", revision: null, agent_id: null },
  ]);
  expect((await on.notebook.changes(since, 10, { minTrust: "agent" }, PERSON)).changes).toHaveLength(1);
  expect((await on.notebook.changes(since, 10, { minTrust: "disk" }, PERSON)).changes).toEqual([]);
});

const cursor = async () => (await on.store.tip()) ?? "";

test("a person's edit of the file is waited for; one that moves the expiry saves the note", async () => {
  const { noteId, path } = await make("Edited", 1);
  const text = on.store.person.text(path ?? "") ?? "";
  clock.advance(HOUR_MS - 100);
  const moved = text.replace(/^expires_at: .*$/m, "expires_at: 2030-01-01T00:00:00.000Z");
  expect(moved).not.toBe(text);
  on.store.person.save(path ?? "", moved);
  await driven(on.disk.hint([path ?? ""]));
  clock.advance(200);
  await driven(on.notebook.settle());
  clock.advance(HOUR_MS);
  expect(await driven(read(noteId))).toMatchObject({ metadata: { expires_at: "2030-01-01T00:00:00.000Z" } });
});

test("an edit that is not committed keeps the note from being removed, and then it is", async () => {
  const { noteId, path } = await make("Held", 1);
  await driven(on.notebook.close());
  on = await openTestNotebook({ clock, commit: "manual", store: on.store, stateDir: on.stateDir });
  on.store.person.save(path ?? "", `${on.store.person.text(path ?? "")}by hand\n`);
  await driven(on.disk.hint([path ?? ""]));
  clock.advance(2 * HOUR_MS);
  for (let i = 0; i < 20; i++) {
    clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(on.notebook.metadata(noteId)).not.toBeNull();
  expect(on.store.person.text(path ?? "")).toContain("by hand");
  await driven(on.notebook.settle());
  await swept(noteId);
  const [expired, edited] = await historyOf(noteId);
  expect([expired?.action, edited?.action]).toEqual(["expire", "update"]);
});

test("nothing is removed while a person's Git has the branch in hand, and it is afterwards", async () => {
  const { noteId } = await make("Waits", 1);
  on.store.person.setState({ state: "rebase", path: "rebase-merge" });
  clock.advance(HOUR_MS);
  for (let i = 0; i < 20; i++) {
    clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(on.notebook.metadata(noteId)).not.toBeNull();
  expect(titles()).toEqual([]);
  on.store.person.setState(null);
  await swept(noteId);
  expect(warnings).toEqual([]);
});

test("very many that expired while no daemon ran are removed one commit each, and an agent's write is not kept waiting", async () => {
  const COUNT = 300;
  const made = await Promise.all(Array.from({ length: COUNT }, (_, i) => make(`Of many ${i}`, 1)));
  const before = await on.store.tip();
  clock.advance(2 * HOUR_MS - 60_000);
  on = await driven(on.reopen());
  expect(titles()).toEqual([]);
  clock.advance(1_500);
  const commits = () =>
    on.notebook.history({ actions: ["expire"] }, 2 * COUNT, null).then(({ items }) => items);
  await until("the first of them", async () => (await commits()).length > 0);
  const mine = await make("Meanwhile", null);
  expect((await commits()).length).toBeLessThan(COUNT);
  await until("all of them", async () => {
    clock.advance(100);
    return (await commits()).length === COUNT;
  });
  const rows = await commits();
  expect(new Set(rows.map(({ commit }) => commit)).size).toBe(COUNT);
  expect(new Set(rows.map(({ noteId }) => noteId))).toEqual(new Set(made.map(({ noteId }) => noteId)));
  expect(titles()).toEqual(["Meanwhile"]);
  expect((await on.notebook.changes(before ?? "", 1_000, {}, PERSON)).changes).toHaveLength(COUNT + 1);
  expect(await read(mine.noteId)).toMatchObject({ content: "text of Meanwhile" });
});

const save = (name: string, value: string, expiresInHours: number | null): Promise<WriteOutcome> =>
  write(
    {
      ...{ kind: "save", key: "deploy", value, scope: "workspace", ref: null, agent: null },
      ...{ pinned: false, expiresInHours },
    },
    agent(name),
  );

test("the key of a memory that has expired is free: whoever saves there makes a new one, which no sweep takes", async () => {
  const old = await save("planner", "old", 1);
  expect(old.created).toBe(true);
  clock.advance(HOUR_MS + 10);
  const [fresh] = await Promise.all([save("other", "fresh", null), pass(20_000)]);
  expect(fresh).toMatchObject({ noteId: old.noteId, created: true });
  await pass(60_000);
  expect(await read(fresh.noteId)).toMatchObject({
    ...{ content: "fresh", metadata: { expires_at: null, agent_name: "other" } },
  });
  // Saved once more before it expires it is the same memory.
  expect(await save("planner", "later", 1)).toMatchObject({ created: false });
  clock.advance(HOUR_MS + 10);
  await swept(fresh.noteId);
  expect(await save("planner", "again", null)).toMatchObject({ created: true, noteId: old.noteId });
});

/** Time passes, and what runs by itself runs. */
async function pass(ms: number): Promise<void> {
  for (let i = 0; i < 20; i++) {
    clock.advance(ms / 20);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("one that can't be removed keeps no other from it, and is told of once", async () => {
  const made = [await make("First", 1), await make("Odd", 1), await make("Last", 1)];
  const { commit } = on.store;
  let refusals = 0;
  on.store.commit = async (drafts) => {
    const isOdd = drafts.some(({ message }) => message.title === "Odd");
    if (isOdd && drafts.length === 1) {
      refusals++;
      throw new NotesError("TOO_LARGE", "refused by the test");
    }
    if (!isOdd) return commit(drafts);
    const others = drafts.filter(({ message }) => message.title !== "Odd");
    const done = await commit(others);
    const blocked = {
      kind: "conflict",
      path: drafts[0]?.files[0]?.path ?? ("" as RepoPath),
      current: null,
    } as const;
    let next = 0;
    return {
      ...done,
      outcomes: drafts.map(({ message }) =>
        message.title === "Odd" ? blocked : (done.outcomes[next++] ?? blocked),
      ),
    };
  };
  clock.advance(HOUR_MS + 10);
  await until("the others to be removed and the odd one to be refused twice", () => {
    clock.advance(1_000);
    return refusals > 1 && titles().length === 0 && on.notebook.metadata(made[2]?.noteId ?? "") === null;
  });
  expect(on.notebook.metadata(made[0]?.noteId ?? "")).toBeNull();
  expect(warnings).toEqual(["notes that have expired could not be removed"]);
  on.store.commit = commit;
  await swept(made[1]?.noteId ?? ("" as NoteId));
});

test("an update to a later expiry counts, and one that was cleared never comes", async () => {
  const later = await make("Later", 1);
  const never = await make("Never", 1);
  await write({ kind: "update", noteId: later.noteId, expiresInHours: 3, onConflict: "fail" });
  await write({ kind: "update", noteId: never.noteId, expiresInHours: null, onConflict: "fail" });
  clock.advance(2 * HOUR_MS);
  expect(titles().sort()).toEqual(["Later", "Never"]);
  clock.advance(HOUR_MS + 1_000);
  expect(titles()).toEqual(["Never"]);
  await swept(later.noteId);
  expect(titles()).toEqual(["Never"]);
});
