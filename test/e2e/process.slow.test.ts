/** The program as a process that is killed, signalled, and started in each way that the documents name. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { cliProcess } from "../support/cli-process.ts";
import { BIN, cleanEnv, git } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const cli = cliProcess();

test("killed with -9 and started again: the same notes, and status tells that nobody was there", async () => {
  await cli.run("init", cli.repo);
  expect((await cli.run("start", "--repo", cli.repo, "--port", "0", "--detach", "--json")).code).toBe(0);
  const { pid } = cli.daemonFile();
  await cli.run("create", "A", "text", "--repo", cli.repo);
  process.kill(pid, "SIGKILL");
  await until("its end", () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
  expect((await cli.run("status", "--repo", cli.repo)).code).toBe(9);
  expect((await cli.run("recover", "--repo", cli.repo)).code).toBe(0);
  expect((await cli.run("start", "--repo", cli.repo, "--port", "0", "--detach")).code).toBe(0);
  expect(cli.daemonFile().pid).not.toBe(pid);
  expect((await cli.run("verify", "--repo", cli.repo)).code).toBe(0);
  expect(JSON.parse((await cli.run("list", "--repo", cli.repo, "--json")).out).total).toBe(1);
});

test("a signal during a start ends it: nothing is announced, nothing stays held, and the next start serves", async () => {
  await cli.run("init", cli.repo);
  const who = "Pat <pat@example.com> 1796033700 +0000";
  const commits = Array.from({ length: 1_500 }, (_, n) => {
    const from = n === 0 ? "from refs/heads/main^0\n" : "";
    const text = `text ${n}`;
    const file = `M 100644 inline notes/n${n % 300}.md\ndata ${text.length}\n${text}\n`;
    return `commit refs/heads/main\ncommitter ${who}\ndata 1\nn\n${from}${file}`;
  });
  execFileSync("git", ["-C", cli.repo, "fast-import", "--quiet"], {
    input: commits.join(""),
    env: cleanEnv(),
  });
  git(cli.repo, "reset", "-q", "--hard");
  const child = spawn(process.execPath, [BIN, "start", "--repo", cli.repo, "--port", "0"], {
    cwd: cli.top,
    env: cli.env(),
    stdio: "ignore",
  });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  await until("it to be on its way", () => existsSync(join(cli.repo, ".git/notesd/lock")));
  expect(existsSync(join(cli.repo, ".git/notesd/daemon.json"))).toBe(false);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(existsSync(join(cli.repo, ".git/notesd/daemon.json"))).toBe(false);
  expect(readdirSync(join(cli.repo, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect((await cli.run("start", "--repo", cli.repo, "--port", "0", "--detach")).code).toBe(0);
  expect(JSON.parse((await cli.run("list", "--repo", cli.repo, "--json")).out).total).toBe(300);
});

test("npm start's own line ends with the shell that npm signals, and leaves no daemon behind", async () => {
  await cli.run("init", cli.repo);
  const { scripts } = JSON.parse(readFileSync(join(BIN, "../../../package.json"), "utf8"));
  const child = spawn("sh", ["-c", `${scripts.start} --repo ${cli.repo} --port 0`], {
    cwd: join(BIN, "../../.."),
    env: cli.env(),
    stdio: "ignore",
  });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  await until("daemon.json", () => existsSync(join(cli.repo, ".git/notesd/daemon.json")));
  expect(cli.daemonFile().pid).toBe(child.pid);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(existsSync(join(cli.repo, ".git/notesd/daemon.json"))).toBe(false);
});

test("the README's program runs as it stands, in a repository's folder, and ends", async () => {
  await cli.run("init", cli.repo);
  expect((await cli.run("start", "--repo", cli.repo, "--port", "0", "--detach")).code).toBe(0);
  const readme = readFileSync(join(BIN, "../../../README.md"), "utf8");
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const client = pathToFileURL(join(BIN, "../../client/client.js")).href;
  const file = join(cli.top, "program.mjs");
  writeFileSync(file, program.replace("notesd/client", client));
  const ended = await new Promise((done) =>
    execFile(process.execPath, [file], { cwd: cli.repo, env: cli.env() }, done),
  );
  expect(ended).toBe(null);
  const listed = JSON.parse((await cli.run("list", "--repo", cli.repo, "--json")).out);
  expect(listed.notes).toMatchObject([
    { title: "Migrate the tokens", status: "resolved", agent_name: "planner" },
  ]);
});

test("init in a code repository is exit 2 and names .notes and --here", async () => {
  const code = join(cli.top, "code");
  mkdirSync(code);
  git(code, "init", "-q");
  writeFileSync(join(code, "a.js"), "1\n");
  git(code, "add", ".");
  const refused = await cli.runIn(code, {}, "init");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/\.notes[\s\S]*--here/);
  expect((await cli.runIn(code, {}, "init", ".notes", "--json")).code).toBe(0);
  const again = await cli.runIn(code, {}, "init", ".notes", "--json");
  expect(JSON.parse(again.out)).toMatchObject({ made: false, again: true });
  expect(git(code, "status", "--porcelain")).toBe("A  a.js");
  cli.repo = join(code, ".notes");
  writeFileSync(join(cli.repo, ".git/notesd/config.json"), JSON.stringify({ branch: "main", port: 0 }));
  expect((await cli.runIn(code, {}, "create", "A", "text")).code).toBe(0);
});

test("settings are set and read by name, and one that is misspelt is told its neighbour", async () => {
  await cli.run("init", cli.repo);
  writeFileSync(join(cli.top, "notes.config.json"), '{"repo": "notes", "port": 0}');
  expect((await cli.run("config", "set", "reconcile.quiet_ms", "500")).code).toBe(0);
  expect((await cli.run("config", "set", "durability", "relaxed")).code).toBe(0);
  expect((await cli.run("config", "set", "durability", "null")).code).toBe(0);
  expect((await cli.run("config", "get", "durability")).code).toBe(4);
  expect((await cli.run("config", "get", "durabilty")).err).toMatch(/no setting; did you mean durability\?/);
  expect((await cli.run("config", "set", "reconcile.quiet", "500")).err).toMatch(
    /did you mean reconcile.quiet_ms/,
  );
  expect(JSON.parse((await cli.run("config", "get", "reconcile", "--json")).out)).toEqual({ quiet_ms: 500 });
});
