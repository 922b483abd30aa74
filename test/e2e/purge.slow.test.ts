import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  BIN,
  cleanEnv,
  git,
  notesd,
  openRpc,
  type RunningDaemon,
  removeFolder,
  startDaemon,
  tempFolder,
} from "../support/daemon.ts";
import { SECRET, whereIs } from "../support/purge-repo.ts";
import { until } from "../support/wait.ts";

let top: string;
let bare: string;
const repos: string[] = [];
const daemons: RunningDaemon[] = [];
beforeEach(() => {
  top = tempFolder();
  bare = join(top, "bare.git");
  mkdirSync(bare);
  git(bare, "init", "-q", "--bare", "-b", "main");
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  // A purge starts the daemon again, in a process of its own.
  for (const repo of repos.splice(0)) run(repo, ["stop"]);
  removeFolder(top);
});

const environment = () => ({ ...cleanEnv(), HOME: top, XDG_STATE_HOME: join(top, "state") });

function run(repo: string, args: readonly string[], input = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args, "--repo", repo], {
    encoding: "utf8",
    env: environment(),
    input,
  });
  return { status, out: stdout, err: stderr };
}

async function serve(name: string) {
  const repo = join(top, name);
  repos.push(repo);
  notesd(["init", repo, "--remote", bare], { env: environment() });
  git(repo, "config", "user.name", "Pat");
  git(repo, "config", "user.email", "pat@example.org");
  notesd(["config", "set", "--repo", repo, "sync.on_change_ms", "0"], { env: environment() });
  notesd(["config", "set", "--repo", repo, "sync.interval_ms", "0"], { env: environment() });
  const daemon = await startDaemon(repo, [], environment());
  daemons.push(daemon);
  return { repo, daemon, rpc: await openRpc(daemon.url, daemon.token) };
}

/** The daemon that a purge started in place of another one. */
async function again(repo: string) {
  const { url, token } = await until("the daemon that was started again", () => {
    const status = run(repo, ["status", "--json"]);
    if (status.status !== 0) return null;
    return { url: JSON.parse(status.out).url.replace("http", "ws"), token: readToken(repo) };
  });
  return openRpc(`${url}/rpc`, token);
}

const readToken = (repo: string) => readFileSync(join(repo, ".git/notesd/token"), "utf8").trim();

test("after a purge in two clones that share a remote, and a sync, nobody holds the value any more", async () => {
  const a = await serve("a");
  const kept = await a.rpc.call("notes.create", { title: "Kept", content: "text that stays\n" });
  const leaked = await a.rpc.call("notes.create", { title: "Bucket", content: `key: ${SECRET}\n` });
  await a.rpc.call("notes.create", { title: "Later", content: "also stays\n" });
  const cursor = (await a.rpc.call("notes.changes", { since: kept.commit })).cursor;
  expect((await a.rpc.call("sync.run", {})).state).toBe("ok");
  const b = await serve("b");
  expect(run(b.repo, ["sync", "--accept-remote"]).status).toBe(0);
  await b.rpc.call("notes.update", { note_id: leaked.note_id, content: `key: ${SECRET}\nmore\n` });
  expect((await b.rpc.call("sync.run", {})).state).toBe("ok");
  expect((await a.rpc.call("sync.run", {})).state).toBe("ok");
  a.rpc.close();

  // The value as an argument would stay in the shell's history.
  const argument = run(a.repo, ["purge", SECRET, "--yes"]);
  expect(argument.status).toBe(2);
  expect(argument.err).toMatch(/standard input/);
  const dry = run(a.repo, ["purge", "-"], `${SECRET}\n`);
  expect([dry.status, dry.err]).toEqual([0, ""]);
  expect(dry.out).toContain(leaked.note_id);
  expect(dry.out).toMatch(/dry run/);
  expect(dry.out).not.toContain(SECRET);
  const before = git(a.repo, "rev-parse", "HEAD");
  const file = join(top, "value");
  writeFileSync(file, SECRET);
  const done = run(a.repo, ["purge", "--value-file", file, "--yes"]);
  expect([done.status, done.err]).toEqual([0, ""]);
  expect(done.out).toContain(`${before} ${git(a.repo, "rev-parse", "HEAD")}`);
  expect(done.out).toMatch(/origin still has the old history/);
  expect(whereIs(a.repo, SECRET)).toEqual([]);
  expect(git(a.repo, "fsck", "--full", "--strict")).toBe("");

  // The daemon is there again, and takes nothing back from the remote.
  const rpc = await again(a.repo);
  const verified = await rpc.call("daemon.verify", {});
  expect(verified).toMatchObject({ equal: true, problems: [] });
  expect((await rpc.reply("notes.changes", { since: cursor })).error).toMatchObject({
    code: 410,
    data: { resync_from: expect.any(String) },
  });
  expect(await rpc.call("sync.run", {})).toMatchObject({
    state: "broken",
    message: expect.stringMatching(/still holds what was purged here.*by hand/s),
  });
  expect(whereIs(a.repo, SECRET)).toEqual([]);

  // Its owner replaces it by hand; then the one is level and the other takes it over.
  git(a.repo, "push", "-q", "--force", "origin", "main");
  git(bare, "gc", "-q", "--prune=now");
  expect((await rpc.call("sync.run", {})).state).toBe("ok");
  rpc.close();
  expect((await b.rpc.call("sync.run", {})).state).toBe("diverged");
  expect(run(b.repo, ["sync", "--accept-remote"]).status).toBe(0);
  b.rpc.close();
  const second = run(b.repo, ["purge", "-", "--yes"], SECRET);
  expect([second.status, second.err]).toEqual([0, ""]);
  for (const repo of [a.repo, b.repo]) {
    expect(whereIs(repo, SECRET)).toEqual([]);
    expect(git(repo, "fsck", "--full", "--strict")).toBe("");
    expect(git(repo, "rev-parse", "HEAD")).toBe(git(bare, "rev-parse", "main"));
  }
  const late = await again(b.repo);
  expect((await late.call("sync.run", {})).state).toBe("ok");
  expect((await late.call("daemon.verify", {})).digest).toBe(verified.digest);
  late.close();
  for (const repo of [a.repo, b.repo]) expect(whereIs(repo, SECRET)).toEqual([]);
});

test("a push that brings the old history back is refused in words, and so is a new commit on top of it", async () => {
  const a = await serve("a");
  await a.rpc.call("notes.create", { title: "Bucket", content: `key: ${SECRET}\n` });
  a.rpc.close();
  const clone = join(top, "clone");
  git(top, "clone", "-q", a.repo, clone);
  git(clone, "config", "user.name", "Ann");
  git(clone, "config", "user.email", "ann@example.org");
  expect(run(a.repo, ["purge", "-", "--yes"], SECRET).status).toBe(0);
  mkdirSync(join(clone, "notes/by"), { recursive: true });
  writeFileSync(join(clone, "notes/by/hand.md"), "mine\n");
  git(clone, "add", ".");
  git(clone, "commit", "-qm", "on top");
  for (const ref of ["refs/for/main", "refs/heads/other", "refs/tags/old"]) {
    const pushed = spawnSync("git", ["-C", clone, "push", "origin", `HEAD:${ref}`], {
      encoding: "utf8",
      env: environment(),
    });
    expect(pushed.status).not.toBe(0);
    expect(pushed.stderr).toMatch(/was purged here/);
  }
  expect(whereIs(a.repo, SECRET)).toEqual([]);
  // On top of the new history it is welcome.
  git(clone, "fetch", "-q", "origin");
  git(clone, "rebase", "-q", "--onto", "origin/main", "HEAD~1");
  git(clone, "push", "-q", "origin", "HEAD:main");
  expect(git(a.repo, "show", "main:notes/by/hand.md")).toBe("mine");
});

test("an agent is told to ask a person", async () => {
  const repo = join(top, "c");
  notesd(["init", repo], { env: environment() });
  const ended = spawnSync(process.execPath, [BIN, "purge", "-", "--yes", "--repo", repo], {
    encoding: "utf8",
    env: { ...environment(), NOTESD_AGENT: "planner" },
    input: SECRET,
  });
  expect([ended.status, ended.stdout]).toEqual([6, ""]);
  expect(ended.stderr).toMatch(/person/);
});
