/**
 * People who edit by every editor's habits and by Git, beside agents that write, at random. At the end nothing
 * that anybody saved is gone: it is in history, in a kept conflict or on the disk, unless a person replaced it.
 */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startDisk } from "../../src/doors/disk.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { at, harness } from "../notebook/reconcile/reconcile-harness.ts";
import { wholeFrom } from "../support/random.ts";
import { storeOnGit, textOf } from "../support/store-on-git.ts";
import { until } from "../support/wait.ts";

const RUN_MS = 45_000;
const NOTES = 12;

const tokensOf = (text: string | null) => text?.match(/<\w+>/g) ?? [];

test.each([1, 2, 3])("nothing that anybody saved is lost, and nothing is echoed (seed %i)", async (seed) => {
  const pick = wholeFrom(seed);
  const on = await storeOnGit();
  const settings = { quiet_ms: 400, max_wait_ms: 3_000, commit: "auto" } as const;
  const { reconciler, agent, commits, failures } = harness(() => on.store, settings, null, systemClock);
  const door = await startDisk({
    root: on.repo.root,
    gitDir: on.repo.gitdir,
    commonDir: on.repo.gitdir,
    roots: ["notes", "memory"],
    clock: systemClock,
    folders: () => ["notes"],
    noteCount: () => 0,
    hint: (paths) => reconciler.hint(paths),
    scanAll: (reason) => reconciler.scanAll(reason),
    headMoved: () => reconciler.onHeadMoved(),
    failed: (error) => failures.push(error),
  });
  expect(door.status()).toBe("watching with chokidar");
  const names = Array.from({ length: NOTES }, (_, i) => `d${i % 3}/n${i}`);
  const onDisk = (name: string) => textOf(on.repo.root, at(name));
  /** What must be found again: tokens of saves that no person replaced. */
  const owed = new Set<string>();
  /** Every text that a person ever saved at a path. */
  const saved = new Map<string, Set<string>>(names.map((name) => [at(name), new Set()]));
  let serial = 0;

  /** A person writes `text` (null: deletes), knowing what lies there now. */
  function save(name: string, text: string | null, how: (path: string, text: string) => void): void {
    const kept = new Set(tokensOf(text));
    for (const token of tokensOf(onDisk(name))) if (!kept.has(token)) owed.delete(token);
    const path = join(on.repo.root, at(name));
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path, { force: true });
    else {
      saved.get(at(name))?.add(text);
      how(path, text);
    }
  }

  const ways: ((path: string, text: string) => void)[] = [
    (path, text) => writeFileSync(path, text),
    (path, text) => {
      writeFileSync(`${path}.tmp`, text);
      renameSync(`${path}.tmp`, path);
    },
    (path, text) => {
      if (textOf(dirname(path), path.slice(dirname(path).length + 1)) !== null) renameSync(path, `${path}~`);
      writeFileSync(path, text);
      rmSync(`${path}~`, { force: true });
    },
    (path, text) => {
      rmSync(path, { force: true });
      writeFileSync(path, text);
    },
    (path, text) => {
      writeFileSync(path, "");
      for (const line of text.split(/(?<=\n)/)) appendFileSync(path, line);
    },
  ];

  function edit(name: string): void {
    const token = `<p${seed}x${serial++}>`;
    const lines = (onDisk(name) ?? `# ${name}\n`).split(/(?<=\n)/);
    const i = pick(lines.length + 1);
    if (pick(4) === 0 && lines.length > 1) lines.splice(1 + pick(lines.length - 1), 1);
    lines.splice(Math.max(1, i), 0, `line ${token}\n`);
    save(name, lines.join(""), ways[pick(ways.length)] ?? writeFileSync);
    owed.add(token);
  }

  function rename(name: string, other: string): void {
    const text = onDisk(name);
    if (text === null || onDisk(other) !== null) return;
    saved.get(at(other))?.add(text);
    mkdirSync(dirname(join(on.repo.root, at(other))), { recursive: true });
    renameSync(join(on.repo.root, at(name)), join(on.repo.root, at(other)));
  }

  function person(): void {
    const name = names[pick(NOTES)] ?? "";
    const chance = pick(100);
    if (chance < 6) save(name, null, () => {});
    else if (chance < 12) rename(name, names[pick(NOTES)] ?? "");
    else if (chance < 20) save(name, onDisk(name), writeFileSync);
    else if (chance < 22) {
      on.repo.tryGit("add", "--", at(name));
      on.repo.tryGit("commit", "-qm", "by hand", "--", at(name));
    } else edit(name);
  }

  const endMs = performance.now() + RUN_MS;
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  async function people(): Promise<void> {
    while (performance.now() < endMs) {
      for (let i = pick(4); i >= 0; i--) person();
      await pause(pick(pick(6) === 0 ? 1500 : 120));
    }
  }
  async function agents(): Promise<void> {
    while (performance.now() < endMs) {
      const name = names[pick(NOTES)] ?? "";
      const token = `<a${seed}x${serial++}>`;
      const tip = await on.store.tip();
      const blob = tip === null ? null : await on.store.blobAt(tip, at(name));
      const text = blob === null ? `# ${name}\n` : String(Buffer.from(await on.store.readBlob(blob)));
      const { outcomes } = await agent(at(name), `${text}agent ${token}\n`);
      if (outcomes[0]?.kind === "committed") owed.add(token);
      await pause(pick(200));
    }
  }
  await reconciler.scanAll("start");
  await Promise.all([people(), agents()]);

  console.log(
    "STATS",
    serial,
    owed.size,
    commits.length,
    commits.filter((c) => c.draft.message.action === "adopt").length,
    commits.filter((c) => c.draft.message.action === "merge").length,
    (await on.store.conflicts()).length,
  );
  // Everything settles, or is held as a conflict.
  await until("everything to settle", async () => {
    await reconciler.settle();
    return reconciler.unsettled().every((path) => reconciler.held(path) === "conflict");
  });
  const lying = names.map((name) => [at(name), onDisk(name)] as const);
  const objects = on.repo.git("rev-list", "--objects", "--all", "--reflog").split("\n");
  const blobs = objects.map((line) => line.slice(0, 40)).join("\n");
  const everything = String(on.repo.gitBytes(["cat-file", "--batch"], blobs));
  const found = new Set([...tokensOf(everything), ...lying.flatMap(([, text]) => tokensOf(text))]);
  expect([...owed].filter((token) => !found.has(token))).toEqual([]);

  // What lies on the disk is what the branch holds, but for conflicts, and those are listed.
  const conflicts = new Set((await on.store.conflicts()).map((conflict) => conflict.path));
  for (const [path, text] of lying) {
    if (reconciler.held(path) === "conflict") expect(conflicts).toContain(path);
    else expect(on.repo.tryGit("show", `main:${path}`).stdout).toBe(text ?? "");
  }

  // No echo: each file of an adopting commit holds a text that a person saved there, and differs from before.
  const adopting = commits.filter(({ draft }) => draft.message.action === "adopt");
  for (const { id, draft } of adopting) {
    for (const { path, bytes, expected } of draft.files) {
      if (bytes === null) continue;
      expect(saved.get(path)?.has(String(Buffer.from(bytes))), `${id} ${path}`).toBe(true);
      expect(on.repo.git("rev-parse", `${id}:${path}`)).not.toBe(expected);
    }
  }
  expect(adopting.length).toBeGreaterThan(5);
  expect(failures).toEqual([]);
  expect(on.repo.tryGit("fsck", "--strict", "--no-dangling").stderr).not.toMatch(/error|missing|broken/);
  const before = commits.length;
  await reconciler.scanAll("asked");
  expect(commits.length).toBe(before);

  await door.close();
  await reconciler.close();
  await on.store.close();
});
