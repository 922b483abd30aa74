/**
 * Both watchers under random edits by every editor's habits, folders renamed, removed and made again, and Git.
 * Whoever looks 50 ms after each hint, and only where it points, ends up knowing every file: no edit is lost.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { watchFolders } from "../../src/doors/watch-folders.ts";
import { watchTree } from "../../src/doors/watch-tree.ts";
import type { WatchReport } from "../../src/doors/watching.ts";
import { gitRepo } from "../support/git-repo.ts";
import { wholeFrom } from "../support/random.ts";

const ROUNDS = 150;
const GATHER_MS = 50;
const SILENCE_MS = 1000;

const WATCHERS = {
  chokidar: (root: string, report: WatchReport) => watchTree(root, ["notes"], report),
  "folder by folder": (root: string, report: WatchReport) => watchFolders(root, ["notes"], () => [], report),
};
const CASES = Object.entries(WATCHERS).flatMap(([name, watch]) =>
  [1, 2, 3].map((seed) => ({ name, watch, seed })),
);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** All notes under a folder, relative to the tree. */
function notesUnder(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name.startsWith(".") ? [] : notesUnder(root, path);
    return path.endsWith(".md") ? [path] : [];
  });
}

/** Knows the files as they were when it last looked where a hint pointed. */
function follower(root: string) {
  const known = new Map<string, string>();
  const hints = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  const textAt = (path: string) =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;

  function look(path: string): void {
    const text = textAt(path);
    if (text === undefined) known.delete(path);
    else known.set(path, text);
  }
  function lookUnder(folder: string): void {
    const inside = [...known.keys()].filter((path) => folder === "" || path.startsWith(`${folder}/`));
    for (const path of [...inside, ...notesUnder(root, folder)]) look(path);
  }
  function lookAtHints(): void {
    timer = null;
    const paths = [...hints];
    hints.clear();
    for (const path of paths) path.endsWith(".md") ? look(path) : lookUnder(path);
  }
  return {
    lookUnder,
    hint(path: string): void {
      hints.add(path);
      timer ??= setTimeout(lookAtHints, GATHER_MS);
    },
    unseen: () =>
      [...new Set([...notesUnder(root, ""), ...known.keys()])].filter(
        (path) => textAt(path) !== known.get(path),
      ),
    quiet: () => timer === null,
  };
}

test.each(CASES)("$name loses no edit (seed $seed)", async ({ watch, seed }) => {
  const pick = wholeFrom(seed);
  const repo = gitRepo();
  const { root } = repo;
  const at = (path: string) => join(root, path);
  let edits = 0;

  function write(path: string, how = pick(6)): void {
    const file = at(path);
    const text = `text ${edits++}`;
    mkdirSync(dirname(file), { recursive: true });
    if (how === 1) {
      writeFileSync(`${file}.tmp`, text);
      renameSync(`${file}.tmp`, file);
      return;
    }
    if (how === 2 && existsSync(file)) renameSync(file, `${file}~`);
    if (how === 3 || how === 5) rmSync(file, { force: true });
    if (how === 4) {
      writeFileSync(file, "");
      for (const letter of text) appendFileSync(file, letter);
    } else if (how !== 5) writeFileSync(file, text);
    rmSync(`${file}~`, { force: true });
  }
  const someFolder = () => `notes/d${pick(6)}`;
  const edit = () => write(`${someFolder()}/${pick(2) ? "s/" : ""}n${pick(8)}.md`);

  function rename(from: string, to: string): void {
    if (from === to || !existsSync(at(from))) return;
    rmSync(at(to), { recursive: true, force: true });
    renameSync(at(from), at(to));
  }
  const moves: (() => void | Promise<void>)[] = [
    async () => {
      const folder = someFolder();
      rmSync(at(folder), { recursive: true, force: true });
      mkdirSync(at(folder), { recursive: true });
      if (pick(2)) await pause(pick(30));
      write(`${folder}/r.md`, 0);
      mkdirSync(at(`${folder}/s`));
      await pause(pick(20));
      write(`${folder}/s/r.md`, 0);
    },
    () => rename(someFolder(), someFolder()),
    () => {
      const folder = someFolder();
      rename(folder, "notes/away");
      rename("notes/away", folder);
    },
    async () => {
      repo.git("add", ".");
      repo.tryGit("commit", "-qm", "more");
      repo.git("checkout", "-q", "bare");
      await pause(pick(60));
      repo.git("checkout", "-q", "main");
    },
    () => {
      repo.git("reset", "-q", "--hard");
      repo.git("clean", "-qfd");
    },
    async () => {
      const path = `${someFolder()}/deep/er/${edits}/x.md`;
      for (let i = 0; i < 3; i++) {
        write(path, 0);
        await pause(pick(10));
      }
    },
    async () => {
      rmSync(at("notes"), { recursive: true, force: true });
      await pause(pick(40));
    },
  ];

  for (let i = 0; i < 48; i++) write(`notes/d${i % 6}/${i % 2 ? "s/" : ""}n${i % 8}.md`, 0);
  repo.git("add", ".");
  repo.git("commit", "-qm", "one");
  repo.git("checkout", "-q", "--orphan", "bare");
  repo.git("rm", "-qrf", ".");
  repo.git("commit", "-q", "--allow-empty", "-m", "nothing");
  repo.git("checkout", "-q", "main");

  const failures: unknown[] = [];
  const seen = follower(root);
  const watcher = await watch(root, { changed: seen.hint, failed: (error) => failures.push(error) });
  seen.lookUnder("");
  const lost: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = pick(9); i >= 0; i--) {
      edit();
      if (pick(4) === 0) await pause(pick(12));
    }
    if (pick(3) > 0) await moves[pick(moves.length)]?.();
    for (let i = pick(4); i > 0; i--) edit();
    const deadlineMs = performance.now() + SILENCE_MS;
    while (performance.now() < deadlineMs && !(seen.quiet() && seen.unseen().length === 0)) await pause(10);
    lost.push(...seen.unseen().map((path) => `round ${round}: ${path}`));
    seen.lookUnder("");
  }
  await watcher.close();
  expect([lost, failures]).toEqual([[], []]);
  expect(edits).toBeGreaterThan(ROUNDS);
});
