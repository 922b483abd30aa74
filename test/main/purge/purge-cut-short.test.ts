import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { purge } from "../../../src/main/purge/purge.ts";
import { recover } from "../../../src/main/recover.ts";
import type { PurgeStep } from "../../../src/store/purge/carry-out.ts";
import { isPurgeOpen } from "../../../src/store/purge/plan-file.ts";
import { type PurgeRepo, purgeRepo, SECRET, whereIs } from "../../support/purge-repo.ts";

const around = ({ env, top }: PurgeRepo) => ({ env, cwd: top, warn: () => {} });
const wish = { values: [SECRET], fingerprints: [], note: null, apply: true };

const run = (repo: PurgeRepo) => purge({ repo: repo.place.root }, around(repo), wish);

/** A purge that fails when it reaches a step for the first time. */
async function cutShort(repo: PurgeRepo, at: PurgeStep): Promise<void> {
  const stop = (step: PurgeStep) => {
    if (step === at) throw new Error("cut short");
  };
  await expect(purge({ repo: repo.place.root }, around(repo), wish, stop)).rejects.toThrow("cut short");
  expect(isPurgeOpen(repo.place.gitDir)).toBe(true);
}

/** An older commit holds the value, and the tip doesn't. */
async function story(): Promise<PurgeRepo> {
  const repo = await purgeRepo();
  for (const [n, text] of [`key ${SECRET}`, "changed", "last"].entries()) {
    await repo.save("notes/a.md", `${text}\n`);
    repo.git("add", ".");
    repo.git("commit", "-qm", `commit ${n}`);
  }
  return repo;
}

const subjects = ({ git }: PurgeRepo, ref = "main") => git("log", "--format=%s", ref).split("\n").slice(0, 3);
const ALL = ["commit 2", "commit 1", "commit 0"];

test("a purge that failed behind its plan keeps the new history from a person's gc, and is completed later", async () => {
  const repo = await story();
  await cutShort(repo, "planned");
  repo.git("repack", "-adq");
  repo.git("gc", "-q", "--prune=now");
  expect((await recover({ repo: repo.place.root }, around(repo))).join()).toMatch(/complete/);
  expect(subjects(repo)).toEqual(ALL);
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
  expect(
    readdirSync(join(repo.place.gitDir, "objects/pack")).filter((name) => name.endsWith(".keep")),
  ).toEqual([]);
});

/** As somebody may who takes every pack for their own. */
function removeKept({ place, git }: PurgeRepo): void {
  const folder = join(place.gitDir, "objects/pack");
  for (const name of readdirSync(folder)) if (name.endsWith(".keep")) rmSync(join(folder, name));
  git("repack", "-adq");
}

test("where the new history is gone before a ref has moved, the old one stays, and it starts", async () => {
  const repo = await story();
  const before = repo.git("rev-parse", "main");
  await cutShort(repo, "planned");
  removeKept(repo);
  expect((await recover({ repo: repo.place.root }, around(repo))).join()).toMatch(/STILL HERE/);
  expect(isPurgeOpen(repo.place.gitDir)).toBe(false);
  expect(repo.git("rev-parse", "main")).toBe(before);
  expect(subjects(repo)).toEqual(ALL);
  expect(await run(repo)).toMatchObject({ found: true, complete: true });
  expect(subjects(repo)).toEqual(ALL);
});

test("where the new history of another branch is gone after one has moved, nothing more goes", async () => {
  const repo = await story();
  repo.git("branch", "side", "main~1");
  repo.git("checkout", "-q", "--orphan", "zoo");
  repo.git("commit", "-qm", `zoo ${SECRET}`);
  repo.git("checkout", "-q", "main");
  const zoo = repo.git("rev-parse", "zoo");
  await cutShort(repo, "ref");
  removeKept(repo);
  await expect(recover({ repo: repo.place.root }, around(repo))).rejects.toMatchObject({ code: "STORAGE" });
  expect(isPurgeOpen(repo.place.gitDir)).toBe(true);
  expect(repo.git("rev-parse", "zoo")).toBe(zoo);
  await expect(run(repo)).rejects.toMatchObject({ code: "STORAGE" });
  expect(repo.git("cat-file", "-t", zoo)).toBe("commit");
  expect(subjects(repo)).toEqual(ALL);
  expect(isPurgeOpen(repo.place.gitDir)).toBe(true);
});

test("after a person's commit before any ref moved the plan is given up, and the daemon starts", async () => {
  const repo = await story();
  await cutShort(repo, "planned");
  await repo.save("notes/b.md", "mine\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "mine");
  const daemon = await repo.start();
  await daemon.stop();
  expect(isPurgeOpen(repo.place.gitDir)).toBe(false);
  expect(repo.git("show", "main:notes/b.md")).toBe("mine");
  expect(await run(repo)).toMatchObject({ found: true, complete: true });
  expect(repo.git("show", "main:notes/b.md")).toBe("mine");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("after a person's commit on the new history the purge is completed below it", async () => {
  const repo = await story();
  await cutShort(repo, "ref");
  repo.git("commit", "-q", "--allow-empty", "-m", "mine");
  repo.git("pack-refs", "--all");
  const mine = repo.git("rev-parse", "main");
  const daemon = await repo.start();
  await daemon.stop();
  expect(isPurgeOpen(repo.place.gitDir)).toBe(false);
  expect(repo.git("rev-parse", "main")).toBe(mine);
  expect(repo.git("log", "--format=%s", "main").split("\n").slice(0, 4)).toEqual(["mine", ...ALL]);
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("a branch that a person began at the old history meanwhile loses nothing", async () => {
  const repo = await story();
  await cutShort(repo, "planned");
  repo.git("checkout", "-qb", "mine");
  repo.git("commit", "-q", "--allow-empty", "-m", "mine");
  expect((await recover({ repo: repo.place.root }, around(repo))).join()).toMatch(/STILL HERE/);
  expect(repo.git("log", "--format=%s", "mine").split("\n").slice(0, 4)).toEqual(["mine", ...ALL]);
  expect(await run(repo)).toMatchObject({ complete: true });
  expect(repo.git("log", "--format=%s", "mine").split("\n").slice(0, 4)).toEqual(["mine", ...ALL]);
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});
