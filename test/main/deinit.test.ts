import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { deinit } from "../../src/main/deinit.ts";
import { init } from "../../src/main/init.ts";
import { takeLock } from "../../src/main/take-lock.ts";
import { readIndex } from "../../src/store/git-index/git-index.ts";

let top: string;
let repo: string;
let env: Record<string, string>;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-deinit-")));
  repo = join(top, "notes");
  env = { HOME: top, PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1" };
  await mkdir(repo);
  git("init", "-q");
  git("config", "user.name", "Pat");
  git("config", "user.email", "pat@example.org");
  await writeFile(join(repo, "a.md"), "text\n");
  git("add", "a.md");
  git("commit", "-qm", "first");
});
afterEach(() => rm(top, { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-C", repo, ...args], { encoding: "utf8", env, stdio: "pipe" }).trim();
const adopt = () => init({ dir: repo, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
const leave = () => deinit({ repo }, { env, cwd: top, warn: () => {} });

test("Git's config is what it was before init, and nothing else changed", async () => {
  git("config", "core.hooksPath", "my-hooks");
  const before = git("config", "--local", "--list");
  await adopt();
  git("config", "gc.autoPackLimit", "7");
  expect((await leave()).unset).not.toContain("gc.autoPackLimit");
  expect(git("config", "--get", "gc.autoPackLimit")).toBe("7");
  git("config", "--unset", "gc.autoPackLimit");
  expect(git("config", "--local", "--list").split("\n").sort()).toEqual(before.split("\n").sort());
  expect(git("log", "--format=%s")).toBe("first");
  expect(git("status", "--porcelain")).toBe("");
  await expect(leave()).rejects.toMatchObject({ exit: 2, message: expect.stringMatching(/notesd init/) });
});

test("the files of the Git directory are what they were before init, a person's lines included", async () => {
  const files = ["config", "info/exclude", "info/attributes"];
  const read = (name: string) => readFile(join(repo, ".git", name), "utf8").catch(() => null);
  const all = () => Promise.all(files.map(read));
  await mkdir(join(repo, ".git/info"), { recursive: true });
  for (const mine of [null, "*.md -text\n", "*.bin binary"]) {
    await rm(join(repo, ".git/info/attributes"), { force: true });
    if (mine !== null) await writeFile(join(repo, ".git/info/attributes"), mine);
    const before = await all();
    await adopt();
    expect(await all()).not.toEqual(before);
    await leave();
    const after = await all();
    // A last line is given its end before another follows.
    expect(after).toEqual(
      before.map((text) => (text === mine && mine !== null ? mine.replace(/\n?$/, "\n") : text)),
    );
  }
});

test("hooks, launcher and token go; what a later init believes commits by stays, and is told", async () => {
  await adopt();
  await writeFile(join(repo, "notes_index.json"), "{}");
  const report = await leave();
  expect(report).toMatchObject({ state_folder: join(repo, ".git/notesd"), index_file_stays: true });
  const left = await readdir(report.state_folder);
  expect(left).toEqual(expect.arrayContaining(["config.json", "persons.json", "proof.key"]));
  for (const name of ["hooks", "bin", "token"]) expect(left).not.toContain(name);
  expect(git("status", "--porcelain")).toBe("");
});

test("a split index is whole again after it, and who keeps theirs whole is asked for no split one", async () => {
  await adopt();
  git("update-index", "--split-index");
  const entries = git("ls-files", "-s");
  await leave();
  expect(() => readIndex(join(repo, ".git"))).not.toThrow();
  expect(git("ls-files", "-s")).toBe(entries);
  git("config", "notesd.splitIndex", "false");
  await adopt();
  expect(git("config", "--get", "notesd.splitIndex")).toBe("false");
  git("update-index", "--split-index");
  await expect(adopt()).rejects.toThrow(/is split. Run git update-index --no-split-index/);
  git("update-index", "--no-split-index");
  await leave();
  expect(git("config", "--get", "notesd.splitIndex")).toBe("false");
});

test("init goes on with the same key, so that earlier commits are still believed", async () => {
  await adopt();
  const key = await readFile(join(repo, ".git/notesd/proof.key"), "utf8");
  await leave();
  expect(await adopt()).toMatchObject({ made: false, again: false });
  expect(await readFile(join(repo, ".git/notesd/proof.key"), "utf8")).toBe(key);
  expect(git("config", "--get", "notesd.marked")).toBe("true");
});

test("while a daemon has the lock nothing is changed, and it is named", async () => {
  await adopt();
  const place = await gitPlaceAt(repo);
  if (!place) throw new Error("no repository");
  const lock = await takeLock(place);
  await expect(leave()).rejects.toMatchObject({ exit: 3 });
  lock.release();
  expect(git("config", "--get", "notesd.marked")).toBe("true");
});
