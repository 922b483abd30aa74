import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deinit } from "../../src/main/deinit.ts";
import { init } from "../../src/main/init.ts";

let top: string;
let repo: string;
let env: Record<string, string>;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-aliases-")));
  repo = join(top, "notes");
  env = { HOME: top, PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1" };
});
afterEach(() => rm(top, { recursive: true, force: true }));

const git = (dir: string, ...args: string[]) =>
  execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", env, stdio: "pipe" });
const adopt = () => init({ dir: repo, roots: null, branch: null, remote: null, env, nowMs: Date.now() });

const MESSAGE = `update(blocker): Login returns 500

fixed by the migration
status: open → resolved

Note-Id: note_20261130_101500_k3vq7a
Note-Action: update
Agent: planner
Note-Proof: ${"0".repeat(64)}
`;

test("git notesd-log shows when, who, what and why, without what only programs read, and takes Git's options", async () => {
  await adopt();
  git(repo, "config", "user.name", "planner");
  git(repo, "config", "user.email", "planner@agents.notesd.invalid");
  git(repo, "commit", "-q", "--allow-empty", "--date", "2026-11-30T10:15:00Z", "-m", MESSAGE);
  const text = git(repo, "notesd-log", "-1");
  expect(text.trimEnd()).toMatch(
    /^[0-9a-f]{7,} 2026-11-30 10:15 {2}planner {2}update\(blocker\): Login returns 500\n {4}fixed by the migration\n {4}status: open → resolved$/,
  );
  expect(text).not.toMatch(/Note-|\u001b/);
  await mkdir(join(repo, "notes"), { recursive: true });
  expect(git(join(repo, "notes"), "notesd-log", "--format=%s", "--", ".")).toBe("");
});

test("aliases of a person stay theirs, and deinit takes ours away alone", async () => {
  await adopt();
  git(repo, "config", "alias.notesd-blame", "blame -w");
  await adopt();
  expect(git(repo, "config", "--get", "alias.notesd-blame")).toBe("blame -w\n");
  await deinit({ repo }, { env, cwd: top, warn: () => {} });
  expect(git(repo, "config", "--local", "--get-regexp", "^alias\\.")).toBe("alias.notesd-blame blame -w\n");
});
