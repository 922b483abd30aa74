import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../src/client/client.ts";
import { daemonFilePath, proves, readDaemonFile } from "../../src/client/discover.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type GitPlace, gitPlaceAt } from "../../src/lib/git-dir.ts";
import { createLog } from "../../src/lib/log.ts";
import { type RunningDaemon, startDaemon } from "../../src/main/daemon.ts";
import { runningDaemons } from "../../src/main/daemon-list.ts";
import { stopDaemon } from "../../src/main/detached.ts";
import { openIdentities } from "../../src/main/identities/identities.ts";
import { init } from "../../src/main/init.ts";
import { listen } from "../../src/main/listen.ts";
import type { Settings } from "../../src/main/settings.ts";

let top: string;
let env: Record<string, string>;
const running: RunningDaemon[] = [];
let logged: string[];

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-daemon-")));
  env = { HOME: top, PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: join(top, "state") };
  await writeFile(join(top, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n");
  logged = [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((daemon) => daemon.stop()));
  await rm(top, { recursive: true, force: true });
});

async function repository(name: string): Promise<GitPlace> {
  const dir = join(top, name);
  await init({ dir, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
  const place = await gitPlaceAt(dir);
  if (!place) throw new Error("init made no repository");
  return place;
}

async function start(place: GitPlace, settings: Settings = {}): Promise<RunningDaemon> {
  const log = createLog({ write: (line) => logged.push(line) });
  const all = { branch: "main", port: 0, ...settings };
  const daemon = await startDaemon({ place, settings: all }, { env, log, clock: systemClock });
  running.push(daemon);
  return daemon;
}

test("daemon.json is the owner's alone, names the process, and who answers proves it", async () => {
  const place = await repository("a");
  const { file, stop } = await start(place);
  expect((await stat(daemonFilePath(place))).mode & 0o777).toBe(0o600);
  expect(await readDaemonFile(place)).toEqual(file);
  expect(Object.keys(file).sort()).toEqual(
    ["pid", "host", "port", "url", "started_at", "nonce", "version", "protocol"].sort(),
  );
  expect(file.pid).toBe(process.pid);
  expect(await proves(file)).toBe(true);
  expect(await proves({ ...file, nonce: "0".repeat(64) })).toBe(false);
  expect((await runningDaemons(env)).map((one) => one.place.root)).toEqual([place.root]);
  await stop();
  expect(await readDaemonFile(place)).toBe(null);
  expect(await runningDaemons(env)).toEqual([]);
});

test("an agent writes, a restart keeps it, and the log holds no token", async () => {
  const place = await repository("a");
  const first = await start(place);
  const agent = await connect({ agent: "planner", repo: place.root, env: {} });
  const made = await agent.notes.create({ title: "Kept", content: "text\n" });
  agent.close();
  await first.stop();
  await start(place);
  const person = await connect({ repo: place.root, env: {} });
  const { metadata, content } = await person.notes.read({ note_id: made.note_id });
  expect(metadata).toMatchObject({ title: "Kept", agent_name: "planner", trust: "agent" });
  expect(content).toBe("text\n");
  expect((await person.call("daemon.verify")).equal).toBe(true);
  person.close();
  const token = (await readFile(join(place.gitDir, "notesd/token"), "utf8")).trim();
  expect(logged.join("")).not.toContain(token);
});

test("a second start on one repository is refused with exit 3 and names the first", async () => {
  const place = await repository("a");
  const { file } = await start(place);
  await expect(start(place)).rejects.toMatchObject({
    exit: 3,
    message: expect.stringMatching(new RegExp(`${file.pid}.*${file.url}`)),
  });
  expect(await proves(file)).toBe(true);
});

test("a port that another notesd holds: exit 10 with its repository, and nothing stays held", async () => {
  const [one, two] = [await repository("a"), await repository("b")];
  const { file } = await start(one);
  await expect(start(two, { port: file.port })).rejects.toMatchObject({
    exit: 10,
    message: expect.stringContaining(one.root),
  });
  expect(await readDaemonFile(two)).toBe(null);
  await start(two);
});

test("an address that others reach needs names, and says that there is no TLS", async () => {
  const place = await repository("a");
  await expect(start(place, { host: "0.0.0.0" })).rejects.toMatchObject({ exit: 2 });
  const { file } = await start(place, { host: "0.0.0.0", hosts: ["notes.example.org"] });
  expect(file.url).toBe(`http://127.0.0.1:${file.port}`);
  expect(logged.join("")).toContain("no TLS");
});

test("what kill -9 left behind keeps nobody out, and a process that has its pid is left alone", async () => {
  const place = await repository("a");
  const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const server = createServer((_request, response) => response.end("someone else"));
  const port = await listen(server, "127.0.0.1", 0, async () => null);
  try {
    const stale = { pid: bystander.pid, host: "127.0.0.1", port, url: `http://127.0.0.1:${port}` };
    const rest = { started_at: "x", nonce: "ab".repeat(32), version: "0", protocol: "1" };
    await writeFile(daemonFilePath(place), JSON.stringify({ ...stale, ...rest }));
    await writeFile(join(place.gitDir, "notesd/lock"), JSON.stringify({ pid: bystander.pid }));
    await expect(stopDaemon(place)).rejects.toMatchObject({ exit: 9 });
    expect(bystander.exitCode).toBe(null);
    expect(bystander.kill(0)).toBe(true);
    const { file } = await start(place);
    expect(await readDaemonFile(place)).toEqual(file);
  } finally {
    bystander.kill("SIGKILL");
    server.close();
  }
});

test("a repository that can't be served is refused before anything in it is touched", async () => {
  const place = await repository("a");
  const config = join(place.gitDir, "config");
  await writeFile(config, `${await readFile(config, "utf8")}[extensions]\n\trefStorage = reftable\n`);
  await expect(start(place)).rejects.toMatchObject({ exit: 2, message: expect.stringMatching(/reftable/i) });
});

test("a revoked agent is out at once", async () => {
  const place = await repository("a");
  await start(place);
  const agent = await connect({ agent: "planner", repo: place.root, env: {} });
  await openIdentities(join(place.gitDir, "notesd"), Date.now).revokeAgent("planner");
  await expect(agent.notes.list()).rejects.toMatchObject({
    code: "FORBIDDEN",
    data: { reason: "agent_revoked" },
  });
  await expect(connect({ agent: "planner", repo: place.root, env: {} })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  agent.close();
});

test("only the owner's own hooks may speak for a push; another person's or an agent's token is refused", async () => {
  const place = await repository("a");
  const { file } = await start(place);
  const identities = openIdentities(join(place.gitDir, "notesd"), Date.now);
  const owner = (await readFile(join(place.gitDir, "notesd/token"), "utf8")).trim();
  const kim = (await identities.addPerson({ name: "Kim", email: "kim@example.org" })).token;
  const planner = (await identities.addAgent({ name: "planner", mcp: false, readOnly: false })).token;
  const ask = async (hook: string, token: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const to = new URL(`/hooks/${hook}`, file.url);
    return (await fetch(to, { method: "POST", headers, body: JSON.stringify(body) })).status;
  };
  const forged = { tip: "a".repeat(40), author: { name: "Pat", email: "pat@example.org" } };
  for (const token of [kim, planner]) {
    expect(await ask("proc-receive", token, forged)).toBe(403);
    for (const hook of ["rules", "pre-receive", "post-receive", "moved", "pre-commit"])
      expect(await ask(hook, token, {})).toBe(403);
  }
  expect(await ask("rules", owner, {})).toBe(200);
});
