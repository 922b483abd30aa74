/** Many pushes beside a daemon that writes: none wedges the repository, and nothing of either side is lost. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanEnv, git, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { type Clone, cloneFrom, gitUrl } from "../support/pusher.ts";
import { until } from "../support/wait.ts";

/** All of it: 1000. */
const PUSHES = Number(process.env["NOTESD_PUSHES"] ?? 8);
const PUSHERS = 4;
/** Killed pushes, each a little later than the one before. */
const KILLS = Number(process.env["NOTESD_KILLED_PUSHES"] ?? 3);
const WRITES_PER_SECOND = 20;
const MOST_PLAIN = 3;
const LARGE_BYTES = 200 << 20;

const served = servedRepo();
const folder = tempFolder();
afterAll(() => removeFolder(folder));

let clones = 0;
const clone = (way: "http" | "path"): Promise<Clone> =>
  cloneFrom(
    way === "http" ? gitUrl(served.daemon, served.daemon.token) : served.repo,
    join(folder, `clone-${++clones}`),
  );
const status = () => git(served.repo, "status", "--porcelain");
const clean = () => until("a clean status", () => status() === "" || null, 30_000);

/** Agents that write so many notes a second until told to stop. */
function agents(written: Map<string, string>): { stop(): Promise<void> } {
  let going = true;
  const open = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const write = async (i: number) => {
    const content = `Acknowledged text ${i}.`;
    const { result, error } = await served.rpc.reply("notes.create", { title: `Agent ${i}`, content });
    if (error && error.code !== 503 && error.code !== 429) throw new Error(`${error.code} ${error.message}`);
    if (result) written.set(result.note_id, content);
  };
  const run = async () => {
    const startedMs = performance.now();
    for (let i = 0; going; i++) {
      await until(
        "the next write",
        () => performance.now() - startedMs >= (i * 1000) / WRITES_PER_SECOND,
        60_000,
      );
      const one: Promise<void> = write(i)
        .catch((error) => void failures.push(error))
        .finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.all(open);
  };
  const done = run();
  return {
    async stop() {
      going = false;
      await done;
      expect(failures).toEqual([]);
    },
  };
}

/** Push as people do; who lost so many races lets the daemon merge. @returns how many tries it took */
async function land(theirs: Clone, merges: boolean): Promise<number> {
  for (let tries = 1; ; tries++) {
    const behind = merges || tries > MOST_PLAIN;
    const pushed = await theirs.run("push", "-q", "origin", behind ? "HEAD:refs/for/main" : "HEAD:main");
    if (pushed.code === 0) return tries;
    if (
      !/newer commits by now|fetch first|Push again in a moment|stale info|non-fast-forward/.test(pushed.text)
    )
      throw new Error(pushed.text);
    if (behind) throw new Error(`behind, and not merged: ${pushed.text}`);
    const pulled = await theirs.run("pull", "-q", "--rebase");
    if (pulled.code !== 0) throw new Error(pulled.text);
  }
}

test(`${PUSHES} pushes over HTTP and by path beside ${WRITES_PER_SECOND} writes a second: none wedges, nothing is lost`, async () => {
  const written = new Map<string, string>();
  const busy = agents(written);
  const tries: number[] = [];
  let next = 0;
  const pusher = async (number: number) => {
    const theirs = await clone(number % 2 === 0 ? "http" : "path");
    for (let i = next++; i < PUSHES; i = next++) {
      const behind = i % 4 === 3;
      if (behind) await theirs.run("pull", "-q", "--rebase");
      theirs.commit({ [`notes/storm/${i}.md`]: `# Storm ${i}\n` });
      const took = await land(theirs, behind);
      if (!behind) tries.push(took);
      if (behind || took > MOST_PLAIN) await theirs.run("pull", "-q", "--rebase");
    }
  };
  const startedMs = performance.now();
  try {
    await Promise.all(Array.from({ length: PUSHERS }, (_, number) => pusher(number)));
  } finally {
    await busy.stop();
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  await clean();
  for (let i = 0; i < PUSHES; i++)
    expect(readFileSync(join(served.repo, `notes/storm/${i}.md`), "utf8")).toBe(`# Storm ${i}\n`);
  for (const [id, text] of written)
    expect((await served.rpc.call("notes.read", { note_id: id })).content).toContain(text);
  expect(written.size).toBeGreaterThan(PUSHES);
  expect(await served.rpc.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  expect(git(served.repo, "fsck", "--strict", "--no-dangling")).toBe("");
  const share = tries.filter((count) => count <= MOST_PLAIN).length / tries.length;
  console.log(
    `${PUSHES} pushes and ${written.size} writes in ${seconds} s; plain pushes within three tries: ${Math.round(share * 100)} of 100`,
  );
});

/** A push that is killed after a while, with everything that it started where it runs on this machine. */
function killedPush(dir: string, afterMs: number): Promise<void> {
  const child: ChildProcess = spawn("git", ["push", "-q", "origin", "HEAD:main"], {
    cwd: dir,
    env: { ...cleanEnv(), GIT_TERMINAL_PROMPT: "0" },
    detached: true,
    stdio: "ignore",
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    }, afterMs);
    child.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

test.each(["http", "path"] as const)(
  "pushes by %s that are killed at any moment leave a repository that takes the next",
  async (way) => {
    const theirs = await clone(way);
    for (let i = 0; i < KILLS; i++) {
      const made = await served.rpc.call("notes.create", { title: `Before kill ${i}`, content: "kept" });
      expect(await theirs.run("pull", "-q", "--rebase")).toMatchObject({ code: 0 });
      theirs.commit({ [`notes/killed-${way}-${i}.md`]: `# Killed ${i}\n`, "README.txt": `${way} ${i}\n` });
      await killedPush(theirs.dir, (2_000 * i) / KILLS);
      // A lock of a process that was killed is a person's to remove, and says so; Git's own are removed at a signal.
      const lock = join(served.repo, ".git/index.lock");
      await until("the lock to go", () => !existsSync(lock) || null, 30_000);
      expect(
        await served.rpc.call("notes.create", { title: `After kill ${i}`, content: "kept" }),
      ).toHaveProperty("commit");
      expect((await served.rpc.call("notes.read", { note_id: made.note_id })).content).toContain("kept");
    }
    expect(await theirs.run("pull", "-q", "--rebase")).toMatchObject({ code: 0 });
    expect(await land(theirs, false)).toBeLessThan(4);
    await clean();
    expect(await served.rpc.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  },
);

test("a file of 200 MB is refused with its name, however small it is packed", async () => {
  const theirs = await clone("http");
  theirs.commit({ "film.bin": Buffer.alloc(LARGE_BYTES) });
  const refused = await theirs.run("push");
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/film\.bin: has 209715200 bytes[\s\S]*Keep it outside/);
  expect(status()).toBe("");
});
