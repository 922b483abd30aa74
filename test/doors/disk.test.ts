import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DiskDeps, type DiskDoor, startDisk } from "../../src/doors/disk.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { type GitRepo, gitRepo, temporaryFolder } from "../support/git-repo.ts";
import { until } from "../support/wait.ts";

let repo: GitRepo;
let door: DiskDoor | null = null;
let hints: string[] = [];
let scans: string[] = [];
let moves = 0;
let failures: unknown[] = [];

beforeEach(() => {
  repo = gitRepo();
  mkdirSync(join(repo.root, "notes/2026"), { recursive: true });
  writeFileSync(join(repo.root, "notes/2026/x.md"), "one\n");
  [hints, scans, moves, failures] = [[], [], 0, []];
});
afterEach(async () => {
  await door?.close();
  door = null;
});

async function start(options: Partial<DiskDeps> = {}): Promise<void> {
  door = await startDisk({
    root: repo.root,
    gitDir: repo.gitdir,
    commonDir: repo.gitdir,
    roots: ["notes", "memory"],
    clock: systemClock,
    folders: () => ["notes/2026"],
    hint: async (paths) => void hints.push(...paths),
    scanAll: async (reason) => void scans.push(reason),
    headMoved: async () => void moves++,
    failed: (error) => failures.push(error),
    stall: { takeMs: () => 0, close() {} },
    ...options,
  });
}

const file = (path: string) => join(repo.root, path);
/** Whether the path, or a folder that holds it, was hinted. */
const hinted = (path: string) => hints.some((hint) => path === hint || path.startsWith(`${hint}/`));
async function sees(path: string, act: () => void): Promise<void> {
  hints = [];
  act();
  await until(`a hint of ${path}`, () => hinted(path));
}

describe("the working tree", () => {
  beforeEach(() => start());

  test("is watched", () => expect([door?.status(), failures]).toEqual(["watching", []]));

  test("hints at every way that editors save", async () => {
    const x = file("notes/2026/x.md");
    await sees("notes/2026/x.md", () => writeFileSync(x, "in place\n"));
    await sees("notes/2026/x.md", () => {
      writeFileSync(`${x}.tmp`, "renamed over\n");
      renameSync(`${x}.tmp`, x);
    });
    await sees("notes/2026/x.md", () => {
      renameSync(x, `${x}~`);
      writeFileSync(x, "backup first\n");
      unlinkSync(`${x}~`);
    });
    await sees("notes/2026/x.md", () => appendFileSync(x, "slowly\n"));
    await sees("notes/2026/x.md", () => unlinkSync(x));
    await sees("notes/2026/x.md", () => writeFileSync(x, "created again\n"));
    await sees("notes/2026/y.md", () => copyFileSync(x, file("notes/2026/y.md")));
  });

  test("sees new folders, also deep ones and a root that wasn't there", async () => {
    await sees("memory/workspace/a/b.md", () => {
      mkdirSync(file("memory/workspace/a"), { recursive: true });
      writeFileSync(file("memory/workspace/a/b.md"), "one\n");
    });
    await sees("memory/workspace/a/b.md", () => writeFileSync(file("memory/workspace/a/b.md"), "two\n"));
    await sees("memory/workspace/a/c.md", () => writeFileSync(file("memory/workspace/a/c.md"), "new\n"));
  });

  test("sees files in a folder that was removed and made again at once", async () => {
    await sees("notes/2026/y.md", () => {
      rmSync(file("notes/2026"), { recursive: true });
      mkdirSync(file("notes/2026"));
      writeFileSync(file("notes/2026/y.md"), "one\n");
    });
    await until("the new folder to be watched", () => {
      writeFileSync(file("notes/2026/z.md"), String(Math.random()));
      return hinted("notes/2026/z.md");
    });
    await sees("notes/2026/later.md", () => writeFileSync(file("notes/2026/later.md"), "one\n"));
  });

  test("sees a folder that was renamed, under both names", async () => {
    await sees("notes/2027/x.md", () => renameSync(file("notes/2026"), file("notes/2027")));
    await until("a hint of the old name", () => hinted("notes/2026/x.md"));
    await sees("notes/2027/x.md", () => writeFileSync(file("notes/2027/x.md"), "two\n"));
  });

  test("looks into no dot folder, no node_modules, no link", async () => {
    const outside = temporaryFolder();
    for (const folder of [".hidden", "node_modules"]) mkdirSync(file(`notes/${folder}`));
    symlinkSync(outside, file("notes/link"));
    writeFileSync(join(outside, "o.md"), "outside\n");
    writeFileSync(file("notes/.hidden/h.md"), "hidden\n");
    writeFileSync(file("notes/node_modules/n.md"), "module\n");
    writeFileSync(file("elsewhere.txt"), "no note\n");
    await sees("notes/last.md", () => writeFileSync(file("notes/last.md"), "seen\n"));
    expect(hints.filter((hint) => /hidden|node_modules|o\.md|elsewhere/.test(hint))).toEqual([]);
  });
});

test("a folder that was empty at the start is watched", async () => {
  mkdirSync(file("notes/ideas"));
  await start();
  await sees("notes/ideas/a.md", () => writeFileSync(file("notes/ideas/a.md"), "one\n"));
});

test("a hundred edits by renaming over, in bursts, each end in a hint after the last", async () => {
  await start();
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 10; i++) {
      writeFileSync(file("notes/2026/x.tmp"), `${round} ${i}\n`);
      renameSync(file("notes/2026/x.tmp"), file("notes/2026/x.md"));
    }
    hints = [];
    await until("a hint", () => hinted("notes/2026/x.md"));
  }
});

test("what Git moves is told: commit, branch, checkout, stage, an open merge", async () => {
  await start();
  const git = async (...args: string[]) => {
    const before = moves;
    repo.tryGit(...args);
    await until(`news of git ${args.join(" ")}`, () => moves > before);
  };
  await git("add", ".");
  await git("commit", "-qm", "one");
  await git("branch", "feature/deep");
  await git("checkout", "-q", "feature/deep");
  writeFileSync(file("notes/2026/x.md"), "theirs\n");
  await git("commit", "-qam", "two");
  await git("checkout", "-q", "main");
  writeFileSync(file("notes/2026/x.md"), "ours\n");
  await git("commit", "-qam", "three");
  await git("merge", "feature/deep");
  await git("merge", "--abort");
  await git("pack-refs", "--all");
});

test("a full table of watches is reported once and in the status, and everything is looked at instead", async () => {
  const clock = fakeClock();
  await start({
    clock,
    watchFolder: () => {
      throw Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), {
        code: "ENOSPC",
      });
    },
  });
  clock.advance(50);
  expect([scans, failures.length]).toEqual([["watcher"], 1]);
  expect(door?.status()).toMatch(/^not everything is watched \(ENOSPC.*every 30 s$/);
  clock.advance(30_000);
  await until("the scan of the interval", () => scans.includes("interval"));
  expect(failures).toHaveLength(1);
});

test("a scan runs every 30 s, and after a stall of the loop over 200 ms", async () => {
  const clock = fakeClock();
  let stallMs = 0;
  await start({ clock, stall: { takeMs: () => stallMs, close() {} } });
  clock.advance(29_000);
  expect(scans).toEqual([]);
  clock.advance(1_000);
  await until("the first scan", () => scans.length === 1);
  await until("the next interval", () => clock.waiting === 2);
  clock.advance(30_000);
  await until("the second scan", () => scans.length === 2);
  stallMs = 201;
  clock.advance(1000);
  expect(scans).toEqual(["interval", "interval", "stall"]);
});

test("more than a thousand events together are a flood: everything is looked at", async () => {
  await start();
  for (let i = 0; i < 1500; i++) writeFileSync(file(`notes/2026/n${i}.md`), "x");
  await until("a scan", () => scans.includes("flood"));
});

test("after it is closed it says nothing", async () => {
  const clock = fakeClock();
  await start({ clock });
  await door?.close();
  writeFileSync(file("notes/2026/x.md"), "two\n");
  clock.advance(1_000_000);
  expect([clock.waiting, hints, scans]).toEqual([0, [], []]);
});
