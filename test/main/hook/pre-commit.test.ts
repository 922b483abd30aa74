import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { gitPlaceAt } from "../../../src/lib/git-dir.ts";
import { runHook } from "../../../src/main/hook/run-hook.ts";
import { init } from "../../../src/main/init.ts";
import { takeLock } from "../../../src/main/take-lock.ts";
import { allowedSecrets } from "../../../src/notebook/secrets/allowed.ts";
import { type Intents, openIntents } from "../../../src/store/commit/intents.ts";
import { secretSpecimens } from "../../support/secret-specimens.ts";

let repo: string;
let intents: Intents;
let said: string;
beforeEach(async () => {
  repo = join(await realpath(await mkdtemp(join(tmpdir(), "notesd-hook-"))), "repo");
  const env = { HOME: repo, PATH: process.env["PATH"] };
  await init({ dir: repo, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
  intents = openIntents(join(repo, ".git/notesd"));
  said = "";
});
afterEach(() => rm(join(repo, ".."), { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-C", repo, "-c", "user.name=P", "-c", "user.email=p@x", ...args], {
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
// What git rev-parse prints is a commit id.
const head = () => git("rev-parse", "HEAD") as CommitId;
const unborn = "1".repeat(40) as CommitId;

const hook = () =>
  runHook(["pre-commit"], {
    cwd: () => repo,
    env: { PATH: process.env["PATH"], HOME: repo },
    stdin: Readable.from([]),
    stdout: { write: () => {} },
    stderr: {
      write(text) {
        said += text;
      },
    },
  });
const open = (from: CommitId | null, to: CommitId) =>
  intents.open({ format: 1, ref: "refs/heads/main", from, to, files: [] });

test("nothing open, or only what the branch does not hold yet: the commit goes on", async () => {
  expect(await hook()).toBe(0);
  await open(head(), unborn);
  expect(await hook()).toBe(0);
});

test("a published write of a dead daemon refuses at once and says what to do", async () => {
  await open(null, head());
  expect(await hook()).toBe(1);
  expect(said).toMatch(/notesd recover/);
});

test("one whose files are placed hinders nobody", async () => {
  intents.placed([await open(null, head())]);
  expect(await hook()).toBe(0);
});

test("while the daemon lives it waits until the files are placed, and refuses when that takes long", async () => {
  const place = await gitPlaceAt(repo);
  if (!place) throw new Error("init made no repository");
  const lock = await takeLock(place);
  try {
    const name = await open(null, head());
    setTimeout(() => intents.placed([name]), 60);
    expect(await hook()).toBe(0);
    await open(null, head());
    expect(await hook()).toBe(1);
    expect(said).toMatch(/in a moment/);
  } finally {
    lock.release();
  }
});

test("Git itself runs it: a commit is refused while a published write is open, and passes without", async () => {
  const bin = join(repo, ".git/notesd/bin");
  writeFileSync(bin, `#!/bin/sh\necho "$@" >> "${join(repo, "../called")}"\nexit 1\n`);
  chmodSync(bin, 0o755);
  git("commit", "-q", "--allow-empty", "-m", "free");
  const name = await open(null, head());
  expect(() => git("commit", "-q", "--allow-empty", "-m", "refused")).toThrow();
  expect(readFileSync(join(repo, "../called"), "utf8")).toBe("hook pre-commit\n");
  const next = await open(null, head());
  intents.placed([name]);
  expect(() => git("commit", "-q", "--allow-empty", "-m", "refused")).toThrow();
  intents.placed([next]);
  // They stand on, for their files are not durable yet; that is no concern of a person's commit.
  git("commit", "-q", "--allow-empty", "-m", "free again");
  expect(git("log", "--format=%s", "-2")).toBe("free again\nfree");
});

test("a secret that is staged in a note refuses the commit by file, line and fingerprint, and no other file does", async () => {
  const secret = secretSpecimens()[0]?.text ?? "";
  const stage = (path: string, text: string) => {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), text);
    git("add", path);
  };
  stage("src/x.env", secret);
  expect(await hook()).toBe(0);
  stage("notes/a.md", `# A\n\n${secret}\n`);
  expect(await hook()).toBe(1);
  expect(said).toMatch(
    / {2}notes\/a\.md:3 holds what looks like a secret: github-token \(fingerprint [0-9a-f]{16}\)\n/,
  );
  expect(said).not.toContain(secret);
  const fingerprint = /fingerprint ([0-9a-f]{16})/.exec(said)?.[1] ?? "";
  allowedSecrets(join(repo, ".git/notesd"), () => 0).add(fingerprint, "Pat");
  expect(await hook()).toBe(0);
  git("commit", "-q", "--no-verify", "-m", "a");
  await allowedSecrets(join(repo, ".git/notesd"), () => 0).remove(fingerprint);
  // What HEAD has there is in history already.
  stage("notes/a.md", `# B\n\n${secret}\n`);
  expect(await hook()).toBe(0);
  stage("notes/b.md", secret);
  expect(await hook()).toBe(1);
});

const stage = (path: string, text: string) => {
  mkdirSync(dirname(join(repo, path)), { recursive: true });
  writeFileSync(join(repo, path), text);
  git("add", path);
};
const commit = (path: string, text: string) => {
  stage(path, text);
  git("commit", "-q", "--no-verify", "-m", path);
};

test("a secret in the name of a staged note refuses the commit, without the name, until it is in history", async () => {
  const secret = secretSpecimens()[0]?.text ?? "";
  stage(`notes/${secret}.md`, `# A\n\n${secretSpecimens()[0]?.text}\n`);
  expect(await hook()).toBe(1);
  expect(said).toMatch(/ {2}the name of a staged file holds .*github-token/);
  expect(said).toMatch(/ {2}a staged file:3 holds .*github-token/);
  expect(said).not.toContain(secret);
  git("commit", "-q", "--no-verify", "-m", "a");
  stage(`notes/${secret}.md`, "# B\n");
  expect(await hook()).toBe(0);
});

test("a merge brings what its parents have, and no secret that is typed into its resolution", async () => {
  const [theirs, ours, typed] = [0, 0, 0].map(() => secretSpecimens()[0]?.text ?? "");
  commit("notes/a.md", "base\n");
  git("checkout", "-q", "-b", "side");
  commit("notes/a.md", `theirs ${theirs}\n`);
  commit("notes/new.md", `new ${theirs}\n`);
  git("checkout", "-q", "-");
  commit("notes/a.md", `ours ${ours}\n`);
  expect(() => git("merge", "-q", "side")).toThrow();
  stage("notes/a.md", `ours ${ours}\ntheirs ${theirs}\n`);
  expect(await hook()).toBe(0);
  stage("notes/a.md", `ours ${ours}\ntheirs ${theirs}\n${typed}\n`);
  expect(await hook()).toBe(1);
  expect(said.match(/fingerprint [0-9a-f]{16}/g)).toHaveLength(1);
  expect(said).toContain("notes/a.md:3 ");
});

test.each(["cherry-pick", "revert"])("the same holds of a %s that stopped", async (what) => {
  const [brought, typed] = [0, 0].map(() => secretSpecimens()[0]?.text ?? "");
  commit("notes/a.md", "base\n");
  const base = head();
  commit("notes/a.md", `one ${brought}\n`);
  const withSecret = head();
  commit("notes/a.md", "two\n");
  const without = head();
  commit("notes/a.md", "three\n");
  if (what === "cherry-pick") git("reset", "-q", "--hard", base);
  commit("notes/a.md", "four\n");
  expect(() => git(what, what === "revert" ? without : withSecret)).toThrow();
  stage("notes/a.md", `four\none ${brought}\n`);
  expect(await hook()).toBe(0);
  stage("notes/a.md", `four\none ${brought}\n${typed}\n`);
  expect(await hook()).toBe(1);
  expect(said.match(/fingerprint [0-9a-f]{16}/g)).toHaveLength(1);
});
