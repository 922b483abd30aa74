import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DiskDeps } from "../../src/doors/disk.ts";
import { watchTree } from "../../src/doors/watch-tree.ts";
import { watchDisk } from "../../src/main/watch-disk.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { gitRepo } from "../support/git-repo.ts";
import { agent, openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";
import { until } from "../support/wait.ts";

const NO_WATCHES = new Error("EMFILE: too many open files, watch");

/** A daemon that starts, and whose tree can be watched from the `able`th attempt on. */
async function starting(able: number) {
  const repo = gitRepo();
  mkdirSync(join(repo.root, "notes"));
  const on = await openTestNotebook({ filesFirst: true, warn: () => {} });
  const clock = fakeClock();
  const failures: unknown[] = [];
  let attempts = 0;
  const watch: DiskDeps["watchTree"] = async (...given) => {
    if (++attempts < able) throw NO_WATCHES;
    return watchTree(...given);
  };
  const door = () =>
    watchDisk(on, {
      root: repo.root,
      gitDir: repo.gitdir,
      commonDir: repo.gitdir,
      roots: ["notes"],
      clock,
      ...on.disk,
      failed: (error) => void failures.push(error),
      watchTree: watch,
      stall: { takeMs: () => 0, close() {} },
    });
  return { on, clock, failures, door };
}

const create = ({ notebook }: TestNotebook) =>
  notebook.write(
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
    agent("planner"),
  );

test("where watching can't begin files are looked at all the same: a write that waits is carried out", async () => {
  const { on, clock, failures, door } = await starting(2);
  const write = create(on);
  const watching = door();
  expect((await write).changed).toBe(true);
  expect(failures).toEqual([NO_WATCHES]);
  expect((await on.notebook.status()).watching).toContain(`but not everything (${NO_WATCHES.message})`);
  clock.advance(30_000);
  await until("the watch", async () => (await on.notebook.status()).watching === "watching with chokidar");
  await watching.close();
  await on.dispose();
});

test("a first look that fails is told to the write that waits, and a later one serves", async () => {
  const { on, clock, failures, door } = await starting(1);
  const { scan } = on.store.workTree;
  const broken = new Error("the disk is broken");
  on.store.workTree.scan = async () => Promise.reject(broken);
  const refused = expect(create(on)).rejects.toBe(broken);
  const watching = door();
  await refused;
  await until("the failure", () => failures.length > 0);
  on.store.workTree.scan = scan;
  const write = create(on);
  clock.advance(5_000);
  expect((await write).changed).toBe(true);
  expect(failures).toEqual([broken]);
  await watching.close();
  await on.dispose();
});

test("a stop tells the writes that wait before the look under way ends, and ends the look where it is", async () => {
  const { on, door } = await starting(1);
  let goOn = () => {};
  let begun = false;
  let ended = false;
  on.store.workTree.sweep = async function* () {
    begun = true;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    try {
      for (;;) yield [];
    } finally {
      ended = true;
    }
  };
  const refused = expect(create(on)).rejects.toMatchObject({ code: "OVERLOADED" });
  const watching = door();
  await until("the look", () => begun);
  const closed = watching.close();
  await refused;
  expect(ended).toBe(false);
  goOn();
  await closed;
  expect(ended).toBe(true);
  await on.dispose();
});
