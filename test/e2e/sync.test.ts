import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
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
import { until } from "../support/wait.ts";

let top: string;
let bare: string;
const daemons: RunningDaemon[] = [];
beforeEach(() => {
  top = tempFolder();
  bare = join(top, "bare.git");
  mkdirSync(bare);
  git(bare, "init", "-q", "--bare", "-b", "main");
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  removeFolder(top);
});

async function serve(name: string, args: readonly string[] = ["--remote", bare]) {
  const repo = join(top, name);
  notesd(["init", repo, ...args], { env: { HOME: top } });
  notesd(["config", "set", "--repo", repo, "sync.on_change_ms", "100"]);
  const daemon = await startDaemon(repo, [], { HOME: top });
  daemons.push(daemon);
  return { repo, daemon, rpc: await openRpc(daemon.url, daemon.token) };
}

test("a daemon made with --remote syncs by itself when it is written to, and another made the same way has it", async () => {
  const a = await serve("a");
  await a.rpc.call("notes.create", { title: "From a", content: "one" });
  const tip = () => git(a.repo, "rev-parse", "HEAD");
  await until("the remote to have it", () => git(bare, "for-each-ref", "--format=%(objectname)") === tip());
  await until("it to know", async () => (await a.rpc.call("sync.status", {})).state === "ok");
  expect(await a.rpc.call("sync.status", {})).toMatchObject({ remote: "origin", ahead: 0, behind: 0 });
  // Two repositories that init made share no history: the second takes the first one's over.
  const b = await serve("b");
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [BIN, "sync", "--repo", b.repo, ...args], {
      encoding: "utf8",
      env: { ...cleanEnv(), HOME: top },
    });
  const diverged = run();
  expect(diverged.status).toBe(5);
  expect(diverged.stdout).toMatch(/--accept-remote/);
  expect((await b.rpc.call("daemon.status", {})).state).toBe("diverged");
  const taken = run("--accept-remote");
  expect([taken.status, taken.stderr]).toEqual([0, ""]);
  expect(taken.stdout).toMatch(/^origin: level/);
  const found = await b.rpc.call("notes.search", { query: "From a" });
  expect(found.total).toBe(1);
  const [one, two] = [await a.rpc.call("daemon.verify", {}), await b.rpc.call("daemon.verify", {})];
  expect(two.digest).toBe(one.digest);
  const agent = await b.rpc.call("agent.token", { name: "planner" });
  const planner = await openRpc(b.daemon.url, agent.token);
  expect((await planner.reply("sync.run", {})).error).toMatchObject({ code: 403 });
  expect((await planner.reply("sync.status", {})).error).toBeUndefined();
  for (const { rpc } of [a, b]) rpc.close();
  planner.close();
});

test("sync without a remote says what to set", async () => {
  const a = await serve("a", []);
  const { error } = await a.rpc.reply("sync.run", {});
  expect(error).toMatchObject({ code: 424, data: { setting: "sync.remote" } });
  a.rpc.close();
});
