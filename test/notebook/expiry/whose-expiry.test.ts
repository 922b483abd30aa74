/** Several daemons of one remote, and a note that expires in all of them: one removes it. */
import { afterEach, expect, test } from "vitest";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { PERSON } from "../../support/open-notebook.ts";
import { saveFile } from "../../support/save-file.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";
import { until } from "../../support/wait.ts";

const HOUR_MS = 3_600_000;
const all: SyncedNotebook[] = [];
afterEach(async () => {
  for (const one of all.splice(0)) await driven(one.dispose());
});
let clock: FakeClock = fakeClock();

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

/** Two daemons that are level, and one note that the first made, which expires in an hour. */
async function two(key?: Uint8Array) {
  clock = fakeClock();
  const bare = repoAt(temporaryFolder());
  bare.git("init", "-q", "--bare", "-b", "main", ".");
  const open = async (seed: number) => {
    const one = await openSynced(bare.root, seed, { clock, ...(key === undefined ? {} : { proofKey: key }) });
    all.push(one);
    return one;
  };
  const first = await open(1);
  await driven(first.create("Stays", "x"));
  await driven(first.run());
  const second = await open(2);
  await driven(second.run());
  const { noteId } = await driven(first.create("Short lived", "x", 1));
  await driven(first.run());
  await driven(second.run());
  expect(second.notebook.metadata(noteId)?.expires_at).toEqual(expect.any(String));
  return { bare, first, second, noteId };
}

const isThere = (one: SyncedNotebook, noteId: string) => one.notebook.metadata(noteId) !== null;
const isSeen = (one: SyncedNotebook, noteId: string) =>
  one.notebook.read(noteId, PERSON).then(
    () => true,
    () => false,
  );
/** Time passes, and every daemon does what it does by then. */
async function pass(ms: number): Promise<void> {
  for (let at = 0; at < 20; at++) {
    clock.advance(ms / 20);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
const expiries = (one: SyncedNotebook) =>
  one.repo
    .git("log", "--format=%s", "main")
    .split("\n")
    .filter((subject) => subject.startsWith("expire"));

test.each([
  ["each with a key of its own", undefined],
  ["with one key, as a team has it", new Uint8Array(32).fill(9)],
])("the daemon that made the save removes it at once, the other takes that over: %s", async (_, key) => {
  const { first, second, noteId } = await two(key);
  await pass(HOUR_MS + 10_000);
  await until("the first to remove it", () => {
    clock.advance(100);
    return !isThere(first, noteId);
  });
  await pass(60_000);
  expect(isThere(second, noteId)).toBe(true);
  expect(await isSeen(second, noteId)).toBe(false);
  await driven(first.run());
  await driven(second.run());
  expect(isThere(second, noteId)).toBe(false);
  await pass(50 * HOUR_MS);
  for (const one of [first, second]) await driven(one.run());
  expect(expiries(first)).toEqual(expiries(second));
  expect(expiries(first)).toHaveLength(1);
  expect(await driven(first.digest())).toBe(await driven(second.digest()));
});

test("where that daemon is gone, another removes it a day later, once it has seen that nobody did", async () => {
  const { first, second, noteId } = await two();
  await driven(first.dispose());
  all.splice(all.indexOf(first), 1);
  await pass(HOUR_MS + 23 * HOUR_MS);
  expect(isThere(second, noteId)).toBe(true);
  await pass(3 * HOUR_MS);
  // The day is over, and no fetch came after it.
  expect(isThere(second, noteId)).toBe(true);
  await driven(second.run());
  await until("the second to remove it", () => {
    clock.advance(1_000);
    return !isThere(second, noteId);
  });
  expect(expiries(second)).toHaveLength(1);
});

test("both removing it at the same time is no conflict", async () => {
  const { first, second, noteId } = await two();
  await pass(HOUR_MS + 10_000);
  await until("the first to remove it", () => {
    clock.advance(100);
    return !isThere(first, noteId);
  });
  // The remote is seen before the first has pushed.
  await pass(27 * HOUR_MS);
  await driven(second.run());
  await until("the second to remove it", () => {
    clock.advance(1_000);
    return !isThere(second, noteId);
  });
  for (const one of [first, second, first]) await driven(one.run());
  expect(await driven(first.digest())).toBe(await driven(second.digest()));
  expect(await first.notebook.conflicts()).toEqual([]);
});

test("what nobody's proof stands on waits for the day, also on one machine alone", async () => {
  clock = fakeClock();
  const bare = repoAt(temporaryFolder());
  bare.git("init", "-q", "--bare", "-b", "main", ".");
  const one = await openSynced(bare.root, 1, { clock });
  all.push(one);
  await driven(one.create("Stays", "x"));
  await driven(one.run());
  const clone = repoAt(temporaryFolder());
  clone.git("clone", "-q", bare.root, ".");
  clone.git("config", "user.name", "Quinn");
  clone.git("config", "user.email", "quinn@example.com");
  const at = new Date(clock.now() + HOUR_MS).toISOString();
  saveFile(clone.root, "notes/pushed.md", `---\nid: pushed-1\nexpires_at: ${at}\n---\nx\n`);
  clone.git("add", "-A");
  clone.git("commit", "-q", "-m", "by Quinn");
  clone.git("push", "-q");
  await driven(one.run());
  await pass(20 * HOUR_MS);
  expect([isThere(one, "pushed-1"), await isSeen(one, "pushed-1")]).toEqual([true, false]);
  await pass(8 * HOUR_MS);
  await driven(one.run());
  await until("it to be removed", () => {
    clock.advance(1_000);
    return !isThere(one, "pushed-1");
  });
});

test("who wrote into the note since does not matter, only who set when it expires", async () => {
  const { first, second, noteId } = await two();
  await driven(second.update(noteId, "y"));
  await driven(second.run());
  await driven(first.run());
  await pass(HOUR_MS + 60_000);
  await until("the first to remove it", () => {
    clock.advance(100);
    return !isThere(first, noteId);
  });
  expect(isThere(second, noteId)).toBe(true);
});
