/** What waits to be synced: for how long, how much of it, and what a stop leaves to the next start. */
import "../../support/faults/fs-tap.ts";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { readIntentFiles } from "../../../src/store/commit/intent-log.ts";
import { openIntents } from "../../../src/store/commit/intents.ts";
import { openUnsynced } from "../../../src/store/commit/unsynced.ts";
import { at, committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { type FsHook, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { temporaryFolder } from "../../support/git-repo.ts";
import { allPlaced, intentsOnDisk } from "../../support/intents-on-disk.ts";
import { storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

let untap = () => {};
afterEach(() => untap());

/** So many intents, each of one file that is there and, where asked for, of others that are gone. */
async function files(count: number, gone = 0) {
  const root = temporaryFolder();
  const state = join(root, "state");
  mkdirSync(state);
  const intents = openIntents(state);
  const clock = fakeClock();
  // 40 hex digits.
  const to = "1".repeat(40) as CommitId;
  const intent = { format: 1, ref: "refs/heads/main", from: null, to, files: [] } as const;
  let tableSyncs = 0;
  // Of the table only the sync is asked for.
  const table = { sync: async () => void tableSyncs++ } as Parameters<typeof openUnsynced>[0]["table"];
  const unsynced = openUnsynced({ root, clock, intents, table }, (error) =>
    expect.unreachable(String(error)),
  );
  for (let n = 0; n < count; n++) {
    const others = Array.from({ length: gone }, (_, i) => at(`gone/${n}/${i}.md`));
    writeFileSync(join(root, `${n}.md`), `${n}`);
    const name = await intents.open(intent);
    intents.placed([name]);
    unsynced.add(name, [at(`${n}.md`), ...others]);
  }
  return {
    root,
    clock,
    unsynced,
    standing: () => readIntentFiles(join(state, "intents")).flatMap(({ open }) => open).length,
    tableSyncs: () => tableSyncs,
  };
}

function syncsOf(root: string): string[] {
  const synced: string[] = [];
  const hook: FsHook = {
    before(call) {
      if (call.op === "fdatasync") synced.push(call.path.slice(root.length + 1));
      return null;
    },
  };
  untap = tapFileSystem(root, hook);
  return synced;
}

test("files are synced when the kernel has had its time, all of some seconds together, and then their intents go", async () => {
  const on = await files(40);
  const synced = syncsOf(on.root);
  on.clock.advance(41_000);
  expect(on.standing()).toBe(40);
  on.clock.advance(1_000);
  await until("the intents to go", () => on.standing() === 0);
  expect(synced).toHaveLength(40);
  expect(on.tableSyncs()).toBe(1);
});

test("however fast files come, no more than some thousands wait", async () => {
  const on = await files(20, 400);
  await until("the older half to go", () => on.standing() <= 10);
  expect(on.standing()).toBeGreaterThan(5);
  await on.unsynced.finish(60_000);
  expect(on.standing()).toBe(0);
});

test("a stop that has no time left leaves them, each still named by its intent", async () => {
  const on = await files(10);
  const synced = syncsOf(on.root);
  await on.unsynced.finish(0);
  expect([on.standing(), synced]).toEqual([10, []]);
});

test("one that was removed meanwhile has nothing to sync, but its folder", async () => {
  const on = await files(3);
  rmSync(join(on.root, "1.md"));
  const synced = syncsOf(on.root);
  await on.unsynced.finish(60_000);
  expect([on.standing(), synced.sort()]).toEqual([0, ["0.md", "2.md"]]);
});

test("after a kill a start looks at no file that was in its place, and syncs it when its time comes", async () => {
  const before = fakeClock();
  const on = await storeOnGit({ clock: before });
  const drafts = ["a", "b", "c"].map((name) => draft(`notes/${name}.md`, `${name}\n`));
  for (const outcome of (await on.store.commit(drafts)).outcomes) committed(outcome);
  await until("their sync to be due", () => before.waiting > 0);
  before.advance(100);
  await until("the files to be in place", () => allPlaced(on.repo.gitdir));
  const clock = fakeClock();
  const read: string[] = [];
  untap = tapFileSystem(on.repo.root, {
    before(call) {
      if (call.op === "readFile" && call.path.endsWith(".md")) read.push(call.path);
      return null;
    },
  });
  const store = await on.reopen({ clock });
  expect(store.recovery).toMatchObject({ carriedOut: 0, owed: [], stuck: [] });
  expect(read).toEqual([]);
  expect(intentsOnDisk(on.repo.gitdir)).toMatchObject([{ name: "000000000001", placed: true }]);
  clock.advance(42_000);
  await until("the intent to go", () => intentsOnDisk(on.repo.gitdir).length === 0);
  await store.close();
});
