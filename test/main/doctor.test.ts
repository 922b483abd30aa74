import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { createLog } from "../../src/lib/log.ts";
import { type RunningDaemon, startDaemon } from "../../src/main/daemon.ts";
import { doctor } from "../../src/main/doctor.ts";
import { init } from "../../src/main/init.ts";
import { until } from "../support/wait.ts";

let top: string;
let repo: string;
let env: Record<string, string>;
let daemon: RunningDaemon | null;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-doctor-")));
  repo = join(top, "notes");
  env = { HOME: top, PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: join(top, "state") };
  daemon = null;
  await init({ dir: repo, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
});
afterEach(async () => {
  await daemon?.stop();
  await rm(top, { recursive: true, force: true });
});

async function look(): Promise<Record<string, string>> {
  const found = await doctor({ repo }, { env, cwd: top, warn: () => {} });
  return Object.fromEntries(found.map(({ name, state, text }) => [name, `${state} ${text}`]));
}

test("a fresh repository is well, with no daemon and without Git too", async () => {
  const states = await look();
  expect(states).toMatchObject({
    program: expect.stringContaining(process.version),
    git: expect.stringMatching(/^ok git version/),
    index: expect.stringMatching(/^ok \d+ entries, whole/),
    repository: `ok ${repo}, branch main`,
    hooks: "ok installed",
    merges: "ok notes are merged as notes",
    secrets: expect.stringMatching(/^ok/),
    daemon: expect.stringMatching(/^note None runs/),
  });
  env = { ...env, PATH: "/nonexistent" };
  expect((await look())["git"]).toMatch(/^note There is no git/);
});

test("open secrets, foreign hooks, merges by lines, idle settings and a repository that can't be served are named", async () => {
  await chmod(join(repo, ".git/notesd/token"), 0o644);
  execFileSync("git", ["-C", repo, "config", "core.hooksPath", "elsewhere"], { env });
  execFileSync("git", ["-C", repo, "config", "--unset", "merge.notesd.driver"], { env });
  await writeFile(join(repo, ".git/notesd/config.json"), '{"branch": "main", "links": {}}');
  execFileSync("git", ["-C", repo, "config", "extensions.objectFormat", "sha256"], { env });
  expect(await look()).toMatchObject({
    secrets: expect.stringMatching(/^bad .*token is open to other users/),
    hooks: expect.stringMatching(/^bad core.hooksPath is elsewhere/),
    merges: expect.stringMatching(/^bad merge\.notesd\.driver is unset .*notesd init/),
    settings: "note the setting links has no effect in this version.",
    repository: expect.stringMatching(/^bad .*can't be served/),
  });
});

test("a password in the URL of a remote is told of, and not repeated", async () => {
  execFileSync("git", ["-C", repo, "remote", "add", "away", "https://u:SECRET@example.org/n.git"], { env });
  const { remotes } = await look();
  expect(remotes).toMatch(/^note remote\.away\.url .*password in clear: .*credential helper/);
  expect(remotes).not.toContain("SECRET");
});

test("a daemon that answers is asked for its notes and the files that are none", async () => {
  await writeFile(join(repo, "notes-readme.md"), "no note\n");
  execFileSync("mkdir", ["-p", join(repo, "notes")]);
  await writeFile(join(repo, "notes/broken.md"), "---\ntitle: [x\n---\n");
  execFileSync("git", ["-C", repo, "add", "notes"], { env });
  execFileSync("git", ["-C", repo, "-c", "user.name=P", "-c", "user.email=p@e", "commit", "-qm", "x"], {
    env,
  });
  const place = await gitPlaceAt(repo);
  if (!place) throw new Error("no repository");
  const log = createLog({ write: () => {} });
  daemon = await startDaemon(
    { place, settings: { branch: "main", port: 0 } },
    { env, log, clock: systemClock },
  );
  expect(await look()).toMatchObject({
    daemon: expect.stringContaining(`ok process ${process.pid} at ${daemon.file.url}`),
    notes: expect.stringMatching(/^bad notes\/broken\.md, line \d+ is no note: not YAML/),
  });
  execFileSync("git", ["-C", repo, "checkout", "-qfb", "side"], { env });
  // main as it was before the broken file
  execFileSync("git", ["-C", repo, "branch", "-f", "main", "HEAD~1"], { env });
  await until("the other branch", async () => /another branch/.test((await look())["notes"] ?? ""));
});
