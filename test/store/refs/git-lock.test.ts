import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { gitLocks, prepareAll } from "../../../src/store/refs/git-lock.ts";
import { locksFolder, removeOwnLocks, standingOwnLocks } from "../../../src/store/refs/own-locks.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { gitRepo } from "../../support/git-repo.ts";

const MAIN = "refs/heads/main";

function setup(lockWaitMs = 0) {
  const repo = gitRepo();
  repo.git("commit", "-q", "--allow-empty", "-m", "first");
  const foreign = { seen: 0 };
  const locks = gitLocks({
    gitdir: repo.gitdir,
    clock: systemClock,
    lockWaitMs,
    onForeign: () => {
      foreign.seen++;
    },
  });
  const at = (name: string) => join(repo.gitdir, name);
  const proofs = () => readdirSync(locksFolder(repo.gitdir));
  return { repo, locks, foreign, at, proofs };
}

test("while we hold the locks native Git refuses, and afterwards it works", async () => {
  const { repo, locks, proofs } = setup();
  const prepared = await Promise.all(["index", "HEAD", MAIN].map((name) => locks.prepare(name, "")));
  const held = await locks.acquire(prepared);
  expect(repo.tryGit("commit", "--allow-empty", "-m", "x").stderr).toMatch(/index\.lock/);
  expect(repo.tryGit("update-ref", MAIN, "HEAD~0").stderr).toMatch(/main\.lock/);
  expect(repo.tryGit("checkout", "--detach").status).not.toBe(0);
  held.check();
  held.release();
  held.release();
  locks.close();
  expect(proofs()).toEqual([]);
  repo.git("commit", "-q", "--allow-empty", "-m", "x");
});

test("a published lock becomes the file it guards and the others go", async () => {
  const { repo, locks, at, proofs } = setup();
  const next = repo.git("commit-tree", "-p", "HEAD", "-m", "second", "HEAD^{tree}");
  const prepared = [await locks.prepare("HEAD", ""), await locks.prepare(MAIN, `${next}\n`)];
  const held = await locks.acquire(prepared);
  held.publish(MAIN);
  held.release();
  expect(repo.git("rev-parse", "main")).toBe(next);
  expect([at("HEAD.lock"), at(`${MAIN}.lock`)].some(existsSync)).toBe(false);
  expect(statSync(at(MAIN)).nlink).toBe(1);
  locks.close();
  expect(proofs()).toEqual([]);
});

test("the proof of HEAD's lock serves one group after the other, and one that somebody took away is made again", async () => {
  const { locks, at, proofs } = setup();
  const once = async () => {
    const held = await locks.acquire([await locks.prepare("HEAD", "")]);
    held.check();
    expect(existsSync(at("HEAD.lock"))).toBe(true);
    held.release();
    expect(existsSync(at("HEAD.lock"))).toBe(false);
  };
  await once();
  const first = proofs();
  await once();
  expect(proofs()).toEqual(first);
  const two = [await locks.prepare("HEAD", ""), await locks.prepare("HEAD", "")];
  expect(new Set(two.map(({ proof }) => proof)).size).toBe(2);
  locks.discard(two);
  expect(proofs()).toEqual(first);
  for (const name of proofs()) rmSync(join(locksFolder(at("")), name));
  await once();
  locks.close();
  expect(proofs()).toEqual([]);
});

test("a lock of HEAD that a dead process left is ours, and is nobody's who only wants it", async () => {
  const { repo, locks, at } = setup();
  const again = gitLocks({ gitdir: repo.gitdir, clock: systemClock, lockWaitMs: 0 });
  await locks.acquire([await locks.prepare("HEAD", "")]);
  await expect(again.acquire([await again.prepare("HEAD", "")])).rejects.toMatchObject({ code: "REPO_BUSY" });
  expect(standingOwnLocks(repo.gitdir)).toEqual(["HEAD"]);
  const held = await again.acquire([await again.prepare("HEAD", "")], { takeOver: true });
  held.release();
  expect(existsSync(at("HEAD.lock"))).toBe(false);
});

test("bytes prepared again under the lock are what is published", async () => {
  const { locks, at } = setup();
  const held = await locks.acquire([await locks.prepare("index", "old", 0o600)]);
  held.replace("index", Buffer.from("new"));
  held.check();
  held.publish("index");
  held.release();
  expect(readFileSync(at("index"), "utf8")).toBe("new");
  expect(statSync(at("index")).mode & 0o777).toBe(0o600);
});

test("a foreign lock is waited for, reported, and never removed", async () => {
  const { locks, foreign, at, proofs } = setup();
  writeFileSync(at("HEAD.lock"), "theirs");
  const prepared = [await locks.prepare("index", ""), await locks.prepare("HEAD", "")];
  await expect(locks.acquire(prepared)).rejects.toMatchObject({
    code: "REPO_BUSY",
    data: { state: "locked", path: "HEAD.lock", retry_after_ms: expect.any(Number) },
  });
  expect(foreign.seen).toBe(1);
  expect(readFileSync(at("HEAD.lock"), "utf8")).toBe("theirs");
  expect(existsSync(at("index.lock"))).toBe(false);
  locks.close();
  expect(proofs()).toEqual([]);
});

test("waiting backs off with jitter, holds nothing meanwhile, and ends when the lock goes", async () => {
  const { repo, at } = setup();
  const clock = fakeClock();
  const pauses: number[] = [];
  const waiting = {
    now: clock.now,
    after(ms: number, fn: () => void) {
      pauses.push(ms);
      expect(existsSync(at("index.lock"))).toBe(false);
      if (pauses.length === 8) rmSync(at("HEAD.lock"));
      const cancel = clock.after(ms, fn);
      queueMicrotask(() => clock.advance(ms));
      return cancel;
    },
  };
  const locks = gitLocks({ gitdir: repo.gitdir, clock: waiting, lockWaitMs: 60_000, random: () => 0.5 });
  writeFileSync(at("HEAD.lock"), "");
  const prepared = [await locks.prepare("index", ""), await locks.prepare("HEAD", "")];
  const held = await locks.acquire(prepared);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 50, 50]);
  held.release();
});

test("a lock that somebody removed or replaced is noticed before the rename", async () => {
  const { repo, locks, at } = setup();
  const before = repo.git("rev-parse", "main");
  const held = await locks.acquire([await locks.prepare(MAIN, `${"1".repeat(40)}\n`)]);
  rmSync(at(`${MAIN}.lock`));
  expect(() => held.publish(MAIN)).toThrow(expect.objectContaining({ code: "REPO_BUSY" }));
  writeFileSync(at(`${MAIN}.lock`), "theirs");
  expect(() => held.check()).toThrow(expect.objectContaining({ code: "REPO_BUSY" }));
  expect(() => held.replace(MAIN, Buffer.from("x"))).toThrow(expect.objectContaining({ code: "REPO_BUSY" }));
  held.release();
  expect(readFileSync(at(`${MAIN}.lock`), "utf8")).toBe("theirs");
  expect(repo.git("rev-parse", "main")).toBe(before);
});

test("after a crash exactly our own locks are found and removed", async () => {
  const { repo, locks, at, proofs } = setup();
  const names = ["index", "HEAD", MAIN];
  await locks.acquire(await Promise.all(names.map((name) => locks.prepare(name, ""))));
  // A person removed ours by hand, and their Git took its own in its place.
  rmSync(at("HEAD.lock"));
  writeFileSync(at("HEAD.lock"), "");
  writeFileSync(at("config.lock"), "");
  expect(standingOwnLocks(repo.gitdir)).toEqual(["index", MAIN]);
  expect(removeOwnLocks(repo.gitdir)).toEqual(["index", MAIN]);
  expect(["index", "HEAD", MAIN, "config"].map((name) => existsSync(at(`${name}.lock`)))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(proofs()).toEqual([]);
  expect(removeOwnLocks(repo.gitdir)).toEqual([]);
});

test("recovery takes over a dead process's locks and retakes what is gone", async () => {
  const { locks, at } = setup();
  const names = ["index", MAIN];
  await locks.acquire(await Promise.all(names.map((name) => locks.prepare(name, "dead"))));
  rmSync(at(`${MAIN}.lock`));
  const prepare = () => Promise.all(names.map((name) => locks.prepare(name, "alive")));
  await expect(locks.acquire(await prepare())).rejects.toMatchObject({ code: "REPO_BUSY" });
  const held = await locks.acquire(await prepare(), { takeOver: true });
  expect(readFileSync(at("index.lock"), "utf8")).toBe("alive");
  held.check();
  held.release();
  expect(names.some((name) => existsSync(at(`${name}.lock`)))).toBe(false);
});

test("takeOver does not take a foreign lock", async () => {
  const { locks, at } = setup();
  writeFileSync(at("index.lock"), "theirs");
  const prepared = await locks.prepare("index", "");
  await expect(locks.acquire([prepared], { takeOver: true })).rejects.toMatchObject({ code: "REPO_BUSY" });
  expect(readFileSync(at("index.lock"), "utf8")).toBe("theirs");
});

test("a lock folder that Git removed is made again", async () => {
  const { repo, locks, at } = setup();
  renameSync(at("refs/heads"), at("refs/gone"));
  const held = await locks.acquire([await locks.prepare(MAIN, repo.git("hash-object", "/dev/null"))]);
  expect(existsSync(at(`${MAIN}.lock`))).toBe(true);
  held.release();
});

test("when one of several can't be prepared, none is left behind", async () => {
  const { locks, proofs } = setup();
  const tooLong = `refs/heads/${"x".repeat(300)}`;
  await expect(
    prepareAll(locks, [
      ["index", ""],
      [tooLong, ""],
      ["HEAD", ""],
    ]),
  ).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  locks.close();
  expect(proofs()).toEqual([]);
});
