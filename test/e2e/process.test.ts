import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN, cleanEnv, git, removeFolder, tempFolder } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

let top: string;
let repo: string;
beforeEach(() => {
  top = tempFolder();
  repo = join(top, "notes");
});
afterEach(async () => {
  const file = join(repo, ".git/notesd/daemon.json");
  // From inside, where the settings file that a test left in the folder above is nobody's.
  const stopped = existsSync(file) ? await runIn(repo, {}, "stop") : null;
  if (existsSync(file)) throw new Error(`a daemon was left behind: ${stopped?.err}`);
  removeFolder(top);
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...cleanEnv(),
  HOME: top,
  XDG_STATE_HOME: join(top, "state"),
  ...more,
});

function runIn(cwd: string, more: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [BIN, ...args],
      { cwd, env: env(more), encoding: "utf8" },
      (error, out, err) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
      },
    );
  });
}
const run = (...args: string[]) => runIn(top, {}, ...args);
const daemonFile = () => JSON.parse(readFileSync(join(repo, ".git/notesd/daemon.json"), "utf8"));

test("the whole way without Git on the path: init, a command that starts the daemon, stop", async () => {
  const bare = { PATH: "/nonexistent" };
  expect((await runIn(top, bare, "init", repo)).code).toBe(0);
  writeFileSync(join(repo, ".git/notesd/config.json"), JSON.stringify({ branch: "main", port: 0 }));
  const created = await runIn(repo, bare, "create", "A", "text", "--json");
  expect(created.err).toBe("");
  const { note_id } = JSON.parse(created.out);
  const listed = await runIn(repo, bare, "list", "--json", "--no-start");
  expect(JSON.parse(listed.out)).toMatchObject({ total: 1, notes: [{ note_id, title: "A" }] });
  expect((await runIn(repo, bare, "stop")).code).toBe(0);
  expect(existsSync(join(repo, ".git/notesd/daemon.json"))).toBe(false);
  expect(git(repo, "log", "--format=%s")).toBe("create(general): A\ninit: notes keep their bytes");
  expect(git(repo, "status", "--porcelain")).toBe("");
});

test("of two daemons started at once on one repository one serves and the other is exit 3", async () => {
  await run("init", repo);
  const starts = [0, 1].map(() => {
    const child = spawn(process.execPath, [BIN, "start", "--repo", repo, "--port", "0"], {
      cwd: top,
      env: env(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk) => {
      err += String(chunk);
    });
    return { child, exited: new Promise<number | null>((done) => child.once("exit", done)), err: () => err };
  });
  const [loser] = await Promise.race(starts.map(async (one) => [one, await one.exited] as const));
  expect(await loser.exited).toBe(3);
  const winner = starts.find((one) => one !== loser);
  expect(loser.err()).toContain(String(winner?.child.pid));
  await until("daemon.json", () => existsSync(join(repo, ".git/notesd/daemon.json")));
  expect(daemonFile().pid).toBe(winner?.child.pid);
  winner?.child.kill("SIGTERM");
  expect(await winner?.exited).toBe(0);
  expect(existsSync(join(repo, ".git/notesd/daemon.json"))).toBe(false);
});

test("killed with -9 and started again: the same notes, and status tells that nobody was there", async () => {
  await run("init", repo);
  expect((await run("start", "--repo", repo, "--port", "0", "--detach", "--json")).code).toBe(0);
  const { pid } = daemonFile();
  await run("create", "A", "text", "--repo", repo);
  process.kill(pid, "SIGKILL");
  await until("its end", () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
  expect((await run("status", "--repo", repo)).code).toBe(9);
  expect((await run("recover", "--repo", repo)).code).toBe(0);
  expect((await run("start", "--repo", repo, "--port", "0", "--detach")).code).toBe(0);
  expect(daemonFile().pid).not.toBe(pid);
  expect((await run("verify", "--repo", repo)).code).toBe(0);
  expect(JSON.parse((await run("list", "--repo", repo, "--json")).out).total).toBe(1);
});

test("a signal during a start ends it: nothing is announced, nothing stays held, and the next start serves", async () => {
  await run("init", repo);
  const who = "Pat <pat@example.com> 1796033700 +0000";
  const commits = Array.from({ length: 1_500 }, (_, n) => {
    const from = n === 0 ? "from refs/heads/main^0\n" : "";
    const text = `text ${n}`;
    const file = `M 100644 inline notes/n${n % 300}.md\ndata ${text.length}\n${text}\n`;
    return `commit refs/heads/main\ncommitter ${who}\ndata 1\nn\n${from}${file}`;
  });
  execFileSync("git", ["-C", repo, "fast-import", "--quiet"], { input: commits.join(""), env: cleanEnv() });
  git(repo, "reset", "-q", "--hard");
  const child = spawn(process.execPath, [BIN, "start", "--repo", repo, "--port", "0"], {
    cwd: top,
    env: env(),
    stdio: "ignore",
  });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  await until("it to be on its way", () => existsSync(join(repo, ".git/notesd/lock")));
  expect(existsSync(join(repo, ".git/notesd/daemon.json"))).toBe(false);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(existsSync(join(repo, ".git/notesd/daemon.json"))).toBe(false);
  expect(readdirSync(join(repo, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect((await run("start", "--repo", repo, "--port", "0", "--detach")).code).toBe(0);
  expect(JSON.parse((await run("list", "--repo", repo, "--json")).out).total).toBe(300);
});

test("npm start's own line ends with the shell that npm signals, and leaves no daemon behind", async () => {
  await run("init", repo);
  const { scripts } = JSON.parse(readFileSync(join(BIN, "../../../package.json"), "utf8"));
  const child = spawn("sh", ["-c", `${scripts.start} --repo ${repo} --port 0`], {
    cwd: join(BIN, "../../.."),
    env: env(),
    stdio: "ignore",
  });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  await until("daemon.json", () => existsSync(join(repo, ".git/notesd/daemon.json")));
  expect(daemonFile().pid).toBe(child.pid);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(existsSync(join(repo, ".git/notesd/daemon.json"))).toBe(false);
});

test("the README's program runs as it stands, in a repository's folder, and ends", async () => {
  await run("init", repo);
  expect((await run("start", "--repo", repo, "--port", "0", "--detach")).code).toBe(0);
  const readme = readFileSync(join(BIN, "../../../README.md"), "utf8");
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const client = pathToFileURL(join(BIN, "../../client/client.js")).href;
  const file = join(top, "program.mjs");
  writeFileSync(file, program.replace("notesd/client", client));
  const ended = await new Promise((done) =>
    execFile(process.execPath, [file], { cwd: repo, env: env() }, done),
  );
  expect(ended).toBe(null);
  const listed = JSON.parse((await run("list", "--repo", repo, "--json")).out);
  expect(listed.notes).toMatchObject([
    { title: "Migrate the tokens", status: "resolved", agent_name: "planner" },
  ]);
});

test("npm start's way: notes.config.json beside the program names the repository", async () => {
  writeFileSync(join(top, "notes.config.json"), '{"repo": "notes", "port": 0}');
  expect((await run("init", "notes")).code).toBe(0);
  expect((await run("create", "A", "text")).code).toBe(0);
  // The daemon that the command started took the port from the same file.
  expect(daemonFile().port).toBeGreaterThan(6699);
  expect((await run("config", "set", "reconcile.quiet_ms", "500")).code).toBe(0);
  expect((await run("config", "set", "durability", "relaxed")).code).toBe(0);
  expect((await run("config", "set", "durability", "null")).code).toBe(0);
  expect((await run("config", "get", "durability")).code).toBe(4);
  expect((await run("config", "get", "durabilty")).err).toMatch(/no setting; did you mean durability\?/);
  expect((await run("config", "set", "reconcile.quiet", "500")).err).toMatch(
    /did you mean reconcile.quiet_ms/,
  );
  expect(JSON.parse((await run("config", "get", "reconcile", "--json")).out)).toEqual({ quiet_ms: 500 });
  writeFileSync(join(top, "notes.config.json"), '{"repo": "notes", "prot": 0}');
  const refused = await run("list");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/prot is no setting; did you mean port\?/);
});

test("init in a code repository is exit 2 and names .notes and --here", async () => {
  const code = join(top, "code");
  mkdirSync(code);
  git(code, "init", "-q");
  writeFileSync(join(code, "a.js"), "1\n");
  git(code, "add", ".");
  const refused = await runIn(code, {}, "init");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/\.notes[\s\S]*--here/);
  expect((await runIn(code, {}, "init", ".notes", "--json")).code).toBe(0);
  const again = await runIn(code, {}, "init", ".notes", "--json");
  expect(JSON.parse(again.out)).toMatchObject({ made: false, again: true });
  expect(git(code, "status", "--porcelain")).toBe("A  a.js");
  repo = join(code, ".notes");
  writeFileSync(join(repo, ".git/notesd/config.json"), JSON.stringify({ branch: "main", port: 0 }));
  expect((await runIn(code, {}, "create", "A", "text")).code).toBe(0);
});
