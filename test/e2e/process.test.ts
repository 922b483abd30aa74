/** The program as a process: the whole way of a person, and what two of it do. The rest is `process.slow.test.ts`. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliProcess } from "../support/cli-process.ts";
import { BIN, git } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const cli = cliProcess();

test("the whole way without Git on the path: init, a command that starts the daemon, stop", async () => {
  const bare = { PATH: "/nonexistent" };
  expect((await cli.runIn(cli.top, bare, "init", cli.repo)).code).toBe(0);
  writeFileSync(join(cli.repo, ".git/notesd/config.json"), JSON.stringify({ branch: "main", port: 0 }));
  const created = await cli.runIn(cli.repo, bare, "create", "A", "text", "--json");
  expect(created.err).toBe("");
  const { note_id } = JSON.parse(created.out);
  const listed = await cli.runIn(cli.repo, bare, "list", "--json", "--no-start");
  expect(JSON.parse(listed.out)).toMatchObject({ total: 1, notes: [{ note_id, title: "A" }] });
  expect((await cli.runIn(cli.repo, bare, "stop")).code).toBe(0);
  expect(existsSync(join(cli.repo, ".git/notesd/daemon.json"))).toBe(false);
  expect(git(cli.repo, "log", "--format=%s")).toBe("create(general): A\ninit: notes keep their bytes");
  expect(git(cli.repo, "status", "--porcelain")).toBe("");
});

test("of two daemons started at once on one repository one serves and the other is exit 3", async () => {
  await cli.run("init", cli.repo);
  const starts = [0, 1].map(() => {
    const child = spawn(process.execPath, [BIN, "start", "--repo", cli.repo, "--port", "0"], {
      cwd: cli.top,
      env: cli.env(),
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
  await until("daemon.json", () => existsSync(join(cli.repo, ".git/notesd/daemon.json")));
  expect(cli.daemonFile().pid).toBe(winner?.child.pid);
  winner?.child.kill("SIGTERM");
  expect(await winner?.exited).toBe(0);
  expect(existsSync(join(cli.repo, ".git/notesd/daemon.json"))).toBe(false);
});

test("npm start's way: notes.config.json beside the program names the repository", async () => {
  writeFileSync(join(cli.top, "notes.config.json"), '{"repo": "notes", "port": 0}');
  expect((await cli.run("init", "notes")).code).toBe(0);
  expect((await cli.run("create", "A", "text")).code).toBe(0);
  // The daemon that the command started took the port from the same file.
  expect(cli.daemonFile().port).toBeGreaterThan(6699);
  writeFileSync(join(cli.top, "notes.config.json"), '{"repo": "notes", "prot": 0}');
  const refused = await cli.run("list");
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/prot is no setting; did you mean port\?/);
});
