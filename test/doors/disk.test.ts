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
import { watchTree } from "../../src/doors/watch-tree.ts";
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
/** Which watcher the tests of a suite run with: the limit decides, as there is one note. */
let maxChokidarNotes = 1;

/** Both watchers keep one promise, and are held to it by one suite. */
const WATCHERS = [
  { name: "chokidar", limit: 1, status: "watching with chokidar" },
  { name: "folder by folder", limit: 0, status: "watching folder by folder" },
];

beforeEach(() => {
  repo = gitRepo();
  mkdirSync(join(repo.root, "notes/2026"), { recursive: true });
  writeFileSync(join(repo.root, "notes/2026/x.md"), "one\n");
  [hints, scans, moves, failures, maxChokidarNotes] = [[], [], 0, [], 1];
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
    noteCount: () => 1,
    maxChokidarNotes,
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

describe.each(WATCHERS)("watched with $name", ({ limit, status }) => {
  beforeEach(() => {
    maxChokidarNotes = limit;
  });

  describe("the working tree", () => {
    beforeEach(() => start());

    test("is watched", () => expect([door?.status(), failures]).toEqual([status, []]));

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

  test("sees a folder in a folder that was removed and made again, time after time", async () => {
    await start();
    for (let round = 0; round < 5; round++) {
      await sees("notes/2026/deep/x.md", () => {
        rmSync(file("notes/2026"), { recursive: true });
        mkdirSync(file("notes/2026/deep"), { recursive: true });
        writeFileSync(file("notes/2026/deep/x.md"), `made again ${round}\n`);
      });
      await until("the deep folder to be watched", () => {
        hints = [];
        writeFileSync(file("notes/2026/deep/x.md"), String(Math.random()));
        return until("a hint", () => hints.includes("notes/2026/deep/x.md"), 500);
      });
    }
  });

  test("sees every file when Git takes all folders away and brings them back", async () => {
    repo.git("add", ".");
    repo.git("commit", "-qm", "one");
    repo.git("checkout", "-q", "--orphan", "bare");
    repo.git("rm", "-qrf", ".");
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing");
    await start();
    await sees("notes/2026/x.md", () => repo.git("checkout", "-q", "main"));
    await sees("notes/2026/x.md", () => {
      repo.git("checkout", "-q", "bare");
      repo.git("checkout", "-q", "main");
    });
    await sees("notes/2026/x.md", () => {
      writeFileSync(file("notes/2026/x.md"), "edited\n");
      repo.git("reset", "-q", "--hard");
    });
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
});

test("a tree that outgrows chokidar is watched folder by folder until it shrank by a fifth", async () => {
  const clock = fakeClock();
  let notes = 10;
  await start({ clock, noteCount: () => notes, maxChokidarNotes: 10 });
  async function afterInterval(count: number): Promise<string | undefined> {
    notes = count;
    scans = [];
    clock.advance(30_000);
    await until("the interval", () => scans.length === 1 && clock.waiting === 2);
    return door?.status();
  }
  expect(door?.status()).toBe("watching with chokidar");
  expect(await afterInterval(11)).toBe("watching folder by folder");
  expect(await afterInterval(9)).toBe("watching folder by folder");
  expect(await afterInterval(8)).toBe("watching with chokidar");
  expect(await afterInterval(10)).toBe("watching with chokidar");
  hints = [];
  writeFileSync(file("notes/2026/x.md"), "after the change\n");
  await until("the event", () => {
    clock.advance(50);
    return hinted("notes/2026/x.md");
  });
  expect(failures).toEqual([]);
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

const NO_SPACE = Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), {
  code: "ENOSPC",
});
const noFolder: DiskDeps["watchFolder"] = () => {
  throw NO_SPACE;
};
const noTree: DiskDeps["watchTree"] = async (_root, _roots, report) => {
  report.failed(NO_SPACE);
  report.failed(NO_SPACE);
  return { refresh: async () => report.failed(NO_SPACE), close: async () => {} };
};

test.each(WATCHERS)(
  "a full table of watches is reported once and in the status, and everything is looked at ($name)",
  async ({ limit, status }) => {
    const clock = fakeClock();
    await start({ clock, maxChokidarNotes: limit, watchFolder: noFolder, watchTree: noTree });
    clock.advance(50);
    expect([scans, failures]).toEqual([["watcher"], [NO_SPACE]]);
    expect(door?.status()).toMatch(new RegExp(`^${status}, but not everything \\(ENOSPC.*every 30 s$`));
    clock.advance(30_000);
    await until("the scan of the interval", () => scans.includes("interval"));
    expect(failures).toHaveLength(1);
  },
);

test("after a failure chokidar starts anew with the next interval, and all is well", async () => {
  const clock = fakeClock();
  let first = true;
  await start({
    clock,
    maxChokidarNotes: 1,
    watchTree: (root, roots, report) => {
      if (!first) return watchTree(root, roots, report);
      first = false;
      return noTree(root, roots, report);
    },
  });
  clock.advance(30_000);
  await until("the interval", () => scans.includes("interval"));
  expect(door?.status()).toBe("watching with chokidar");
  writeFileSync(file("notes/2026/x.md"), "two\n");
  await until("the event", () => {
    clock.advance(50);
    return hinted("notes/2026/x.md");
  });
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
