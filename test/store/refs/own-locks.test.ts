import "../../support/faults/fs-tap.ts";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { gitLocks } from "../../../src/store/refs/git-lock.ts";
import { locksFolder } from "../../../src/store/refs/own-locks.ts";
import type { FsCall } from "../../support/faults/fs-calls.ts";
import { diskError, type Fault, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { gitRepo } from "../../support/git-repo.ts";

/** A repository whose disk refuses the calls that `when` picks, until the tap is off. */
function refusing(when: (call: FsCall) => boolean, done: Fault["done"] = "nothing") {
  const { gitdir } = gitRepo();
  const locks = gitLocks({ gitdir, clock: systemClock, lockWaitMs: 0 });
  const untap = tapFileSystem(gitdir, {
    before: (call) => (when(call) ? { error: diskError("EIO", call), done } : null),
  });
  const standing = () => [existsSync(join(gitdir, "index.lock")), readdirSync(locksFolder(gitdir)).length];
  return { gitdir, locks, untap, standing };
}

test("a lock that the disk would not remove goes before the next one is taken", async () => {
  const { locks, untap, standing } = refusing(({ op, path }) => op === "unlink" && /\.lock$/.test(path));
  const held = await locks.acquire([await locks.prepare("index", "one")]);
  held.release();
  expect(standing()).toEqual([true, 1]);
  untap();
  const again = await locks.acquire([await locks.prepare("index", "two")]);
  again.release();
  expect(standing()).toEqual([false, 0]);
});

test("a lock whose proof can't be looked at is given back", async () => {
  let looks = 0;
  const { locks, untap, standing } = refusing(
    ({ op, path }) => op === "lstat" && /index~/.test(path) && looks++ === 0,
  );
  await expect(locks.acquire([await locks.prepare("index", "one")])).rejects.toMatchObject({
    code: "STORAGE",
  });
  untap();
  expect(standing()).toEqual([false, 0]);
});

test("a lock that was made though the disk said no is ours", async () => {
  const { locks, untap, standing } = refusing(({ op }) => op === "link", "all");
  const held = await locks.acquire([await locks.prepare("index", "one")]);
  untap();
  expect(standing()).toEqual([true, 1]);
  held.release();
  expect(standing()).toEqual([false, 0]);
});
