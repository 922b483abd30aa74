/** The door around Git, with a Git that does what the test says: a script in a folder that alone is PATH. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDoor, type TestDoor } from "../../support/door.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { until } from "../../support/wait.ts";

let folder: string;
let door: TestDoor;
let clock: FakeClock;
let asked: number;

/** @param backend shell text of `git http-backend`; null: there is no Git at all */
async function open(backend: string | null, version = "2.39.5"): Promise<void> {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "git-http-backend"), "", { mode: 0o755 });
  if (backend !== null) {
    const script = `case "$1" in --version) echo "git version ${version}" ;; --exec-path) echo "${bin}" ;; *) ${backend} ;; esac`;
    writeFileSync(join(bin, "git"), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`, { mode: 0o755 });
  }
  asked = 0;
  door = await openDoor({
    git: {
      root: "/the/root",
      hooks: "/the/hooks",
      clock,
      env: { PATH: bin, HOME: folder, GIT_DIR: "/elsewhere", GIT_SSH_COMMAND: "x", REMOTE_USER: "mallory" },
      personAtGit: () => asked++,
    },
  });
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "notesd-git-door-"));
  clock = fakeClock();
});
afterEach(async () => {
  await door.close();
  await rm(folder, { recursive: true, force: true });
});

const basic = (token: string) => ({ authorization: `Basic ${btoa(`anyone:${token}`)}` });
const advertise = (service: string, token: string, headers: Record<string, string> = {}) =>
  fetch(`${door.http}/notes.git/info/refs?service=${service}`, { headers: { ...basic(token), ...headers } });

test("without Git, with an old one, or one without http-backend the answer is 501 and says what to install", async () => {
  await open(null);
  const none = await advertise("git-upload-pack", "ada-token");
  expect([none.status, none.headers.get("content-type")]).toEqual([501, "text/plain; charset=utf-8"]);
  expect(await none.text()).toMatch(/need Git on the machine of the daemon.*apt install git/);
  await door.close();
  await open("exit 1", "2.30.9");
  expect(await (await advertise("git-upload-pack", "ada-token")).text()).toMatch(
    /git version 2\.30\.9.*2\.31 or later/,
  );
  await door.close();
  await open("exit 1");
  await rm(join(folder, "bin/git-http-backend"));
  expect(await (await advertise("git-upload-pack", "ada-token")).text()).toMatch(/without git-http-backend/);
});

test("Git gets a clean environment, our hooks, and the name that the token says", async () => {
  await open(`printf 'Status: 200 OK\\r\\nContent-Type: text/plain\\r\\n\\r\\n'; env`);
  const answer = await advertise("git-receive-pack", "ada-token", {
    "git-protocol": "version=2",
    "content-encoding": "identity",
    "remote-user": "mallory",
  });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain"]);
  const env = new Map(
    (await answer.text()).split("\n").map((line) => [line.split("=")[0], line.split(/=(.*)/s)[1]]),
  );
  expect(Object.fromEntries(env)).toMatchObject({
    GIT_PROJECT_ROOT: "/the/root",
    PATH_INFO: "/.git/info/refs",
    QUERY_STRING: "service=git-receive-pack",
    REQUEST_METHOD: "GET",
    GIT_PROTOCOL: "version=2",
    REMOTE_USER: "ada@example.org",
    GIT_COMMITTER_NAME: "Ada",
  });
  expect([env.get("GIT_DIR"), env.get("GIT_SSH_COMMAND"), env.get("HTTP_REMOTE_USER")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const settings = Array.from({ length: Number(env.get("GIT_CONFIG_COUNT")) }, (_, i) => [
    env.get(`GIT_CONFIG_KEY_${i}`),
    env.get(`GIT_CONFIG_VALUE_${i}`),
  ]);
  expect(settings).toContainEqual(["core.hooksPath", "/the/hooks"]);
  expect(settings).toContainEqual(["http.receivepack", "true"]);
  expect(settings).toContainEqual(["receive.fsckObjects", "true"]);
  expect(asked).toBe(1);
});

test("agents and read-only tokens fetch and never push, whatever they ask", async () => {
  await open(`printf 'Content-Type: text/plain\\r\\n\\r\\n'; env`);
  for (const token of ["planner-token", "reader-token"]) {
    const fetched = await advertise("git-upload-pack", token);
    expect(fetched.status).toBe(200);
    const env = await fetched.text();
    expect(env).toMatch(/^GIT_CONFIG_KEY_2=http\.receivepack$/m);
    expect(env).toMatch(/^GIT_CONFIG_VALUE_2=false$/m);
    for (const refused of [
      await advertise("git-receive-pack", token),
      await fetch(`${door.http}/notes.git/git-receive-pack`, {
        method: "POST",
        headers: { ...basic(token), "content-type": "application/x-git-receive-pack-request" },
        body: "0000",
      }),
    ]) {
      expect(refused.status).toBe(403);
      expect(await refused.text()).toMatch(/^Only persons push/);
    }
  }
  expect(asked).toBe(0);
});

test("what smart HTTP doesn't ask is refused: the dumb protocol, other services, other bodies", async () => {
  await open("exit 1");
  const at = (path: string, init: RequestInit = {}) =>
    fetch(`${door.http}/notes.git${path}`, { ...init, headers: { ...basic("ada-token"), ...init.headers } });
  expect((await at("/info/refs")).status).toBe(403);
  expect((await at("/info/refs?service=git-shell")).status).toBe(403);
  expect((await at("/objects/info/packs")).status).toBe(404);
  expect((await at("/git-upload-pack", { method: "POST", body: "x" })).status).toBe(415);
  expect((await at("/git-upload-pack")).status).toBe(405);
});

test("a Git that gives up after the head alone is a 400, and an empty answer of a content one is an answer", async () => {
  const head = "printf 'Content-Type: application/x-git-receive-pack-result\\r\\n\\r\\n'; cat > /dev/null";
  const push = async () => {
    const answer = await fetch(`${door.http}/notes.git/git-receive-pack`, {
      method: "POST",
      headers: { ...basic("ada-token"), "content-type": "application/x-git-receive-pack-request" },
      body: "garbage",
    });
    return [answer.status, await answer.text()];
  };
  await open(`${head}; echo bad line length >&2; exit 1`);
  expect(await push()).toEqual([400, expect.stringMatching(/could not read this request.*log says why/)]);
  expect(door.logged.join("")).toContain("bad line length");
  await door.close();
  await open(`${head}; exit 0`);
  expect(await push()).toEqual([200, ""]);
  await door.close();
  await open(`${head}; kill -9 $$`);
  expect((await push())[0]).toBe(500);
});

test("a Git that dies without a word is a 500 in plain text, and the log has what it said", async () => {
  await open("echo broken pipe dream >&2; exit 3");
  const answer = await advertise("git-upload-pack", "ada-token");
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringMatching(/log says why/)]);
  expect(door.logged.join("")).toContain("broken pipe dream");
});

const lives = (pid: string) => {
  try {
    return !/^State:\s+Z/m.test(
      execFileSync("cat", [`/proc/${pid.trim()}/status`], { encoding: "utf8", stdio: "pipe" }),
    );
  } catch {
    return false;
  }
};

test.runIf(process.platform === "linux")(
  "a client that goes away in the middle of a body takes its Git with it",
  async () => {
    await open(`echo $$ > ${folder}/pid; exec sleep 600`);
    const push = request(`${door.http}/notes.git/git-receive-pack`, {
      method: "POST",
      headers: { ...basic("ada-token"), "content-type": "application/x-git-receive-pack-request" },
    });
    push.on("error", () => {});
    push.write("0000");
    const pid = await until(
      "Git to begin",
      () => (existsSync(join(folder, "pid")) ? readFileSync(join(folder, "pid"), "utf8") : null) || null,
    );
    expect(lives(pid)).toBe(true);
    push.destroy();
    await until("Git to be gone", () => !lives(pid) || null);
  },
);

test.runIf(process.platform === "linux")(
  "a push that is all here is let finish without its client, for as long as a lease lasts",
  async () => {
    await open(`cat > ${folder}/body; echo $$ > ${folder}/pid; exec sleep 600`);
    const push = request(`${door.http}/notes.git/git-receive-pack`, {
      method: "POST",
      headers: { ...basic("ada-token"), "content-type": "application/x-git-receive-pack-request" },
    });
    push.on("error", () => {});
    push.end("0000");
    const pid = await until(
      "Git to begin",
      () => (existsSync(join(folder, "pid")) ? readFileSync(join(folder, "pid"), "utf8") : null) || null,
    );
    const timers = clock.waiting;
    push.destroy();
    await until("the door to notice", () => clock.waiting === timers || null);
    clock.advance(59_000);
    expect(lives(pid)).toBe(true);
    clock.advance(61_000);
    await until("Git to be gone", () => !lives(pid) || null);
    expect(readFileSync(join(folder, "body"), "utf8")).toBe("0000");
  },
);

test.runIf(process.platform === "linux")("a Git that says nothing for two minutes is ended", async () => {
  await open(`echo $$ > ${folder}/pid; exec sleep 600`);
  const answer = advertise("git-upload-pack", "ada-token");
  const pid = await until(
    "Git to begin",
    () => (existsSync(join(folder, "pid")) ? readFileSync(join(folder, "pid"), "utf8") : null) || null,
  );
  clock.advance(119_000);
  expect(lives(pid)).toBe(true);
  clock.advance(1_000);
  expect((await answer).status).toBe(500);
  expect(lives(pid)).toBe(false);
});
