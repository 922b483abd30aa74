import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { processLockHolder, takeProcessLock } from "../../src/lib/process-lock.ts";
import { childScript, startChild } from "../support/child-script.ts";
import { temporaryFolder } from "../support/git-repo.ts";

let script = "";
beforeAll(async () => {
  script = await childScript("lock-child");
});

const start = (folder: string, driver: "with" | "without" = "with") => startChild(script, folder, driver);
const leftovers = (folder: string) => readdirSync(folder).filter((name) => name !== "lock.db");

test.each([
  ["with", "with"],
  ["with", "without"],
  ["without", "with"],
  ["without", "without"],
] as const)(
  "a holder %s a driver excludes a taker %s one, and frees the lock by release",
  async (one, two) => {
    const folder = temporaryFolder();
    const holder = start(folder, one);
    expect(await holder.line()).toBe("taken");
    expect(readFileSync(join(folder, "lock"), "utf8")).toContain(`"pid":${holder.pid}`);
    expect(await start(folder, two).line()).toBe(`held ${holder.pid}`);
    expect(await processLockHolder(folder)).toEqual({ pid: holder.pid });
    holder.say("release");
    expect(await holder.line()).toBe("released");
    expect(leftovers(folder)).toEqual([]);
    expect(await processLockHolder(folder)).toBeNull();
    expect(await start(folder, two).line()).toBe("taken");
  },
);

test.each(["with", "without"] as const)(
  "kill -9 frees it at once, %s a driver, and the dead one's files go",
  async (driver) => {
    const folder = temporaryFolder();
    for (let round = 0; round < 3; round++) {
      const holder = start(folder, driver);
      expect(await holder.line()).toBe("taken");
      holder.signal("SIGKILL");
      await holder.ended;
      expect(existsSync(join(folder, "lock"))).toBe(true);
      expect(await processLockHolder(folder)).toBeNull();
    }
    const attempt = await takeProcessLock(folder);
    expect(attempt.kind).toBe("taken");
    if (attempt.kind === "taken") attempt.lock.release();
    expect(leftovers(folder)).toEqual([]);
  },
);

test("a blocked and a stopped holder keep it", async () => {
  const folder = temporaryFolder();
  const holder = start(folder, "without");
  expect(await holder.line()).toBe("taken");
  holder.say("block");
  expect(await holder.line()).toBe("blocking");
  expect(await start(folder, "without").line()).toBe(`held ${holder.pid}`);
  holder.signal("SIGSTOP");
  expect(await start(folder, "with").line()).toBe(`held ${holder.pid}`);
});

test("of eight at once, with and without a driver, exactly one takes it", async () => {
  const folder = temporaryFolder();
  const drivers = ["with", "without"] as const;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => start(folder, drivers[i % 2]).line()),
  );
  expect(answers.filter((answer) => answer === "taken").length).toBe(1);
  expect(answers.filter((answer) => answer.startsWith("held")).length).toBe(7);
});

test("within one process too, the second attempt is held by the first", async () => {
  const folder = temporaryFolder();
  const attempts = await Promise.all(Array.from({ length: 4 }, () => takeProcessLock(folder)));
  const taken = attempts.flatMap((attempt) => (attempt.kind === "taken" ? [attempt.lock] : []));
  expect(taken.length).toBe(1);
  expect((await takeProcessLock(folder)).kind).toBe("held");
  // The failed attempts must not have dropped the holder's lock on the database: all else is taken away here.
  for (const name of leftovers(folder)) if (name.startsWith("lock.")) rmSync(join(folder, name));
  expect(await start(folder).line()).toBe(`held ${process.pid}`);
  for (const lock of taken) lock.release();
});

test("a running process with the dead holder's pid is not taken for the holder", async () => {
  const folder = temporaryFolder();
  const nonce = "a".repeat(24);
  const dead = `{"pid":${process.pid},"nonce":"${nonce}"}\n`;
  writeFileSync(join(folder, "lock"), dead);
  writeFileSync(join(folder, `lock.${nonce}`), dead);
  const attempt = await takeProcessLock(folder);
  expect(attempt.kind).toBe("taken");
  if (attempt.kind === "taken") attempt.lock.release();
});

test("somebody else's socket under a dead holder's name proves nothing", async () => {
  const folder = temporaryFolder();
  const nonce = "b".repeat(24);
  const server = createServer((socket) => socket.end("hello\n"));
  await new Promise<void>((resolve) => server.listen(join(folder, `lock.${nonce}.sock`), resolve));
  writeFileSync(join(folder, `lock.${nonce}`), `{"pid":1}\n`);
  const attempt = await takeProcessLock(folder);
  expect(attempt.kind).toBe("taken");
  if (attempt.kind === "taken") attempt.lock.release();
  await new Promise((resolve) => server.close(resolve));
});

test("a holder that accepts and hangs up, out of file handles, keeps it", async () => {
  const folder = temporaryFolder();
  const nonce = "c".repeat(24);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(join(folder, `lock.${nonce}.sock`), resolve));
  writeFileSync(join(folder, `lock.${nonce}`), `{"pid":77}\n`);
  expect(await takeProcessLock(folder)).toEqual({ kind: "held", holder: { pid: 77 } });
  await new Promise((resolve) => server.close(resolve));
});

test("a folder deeper than a socket's path may be works as any", async () => {
  const folder = join(temporaryFolder(), "d".repeat(100), "e".repeat(100));
  mkdirSync(folder, { recursive: true });
  const holder = start(folder, "without");
  expect(await holder.line()).toBe("taken");
  expect(await start(folder, "without").line()).toBe(`held ${holder.pid}`);
  holder.signal("SIGKILL");
  await holder.ended;
  expect(await start(folder, "without").line()).toBe("taken");
});

test("where only the database is held, by a process that can't be asked, the lock is held", async () => {
  const folder = temporaryFolder();
  const holder = start(folder, "with");
  expect(await holder.line()).toBe("taken");
  // As from another machine or container: its announcement can't be seen.
  for (const name of leftovers(folder)) if (name.startsWith("lock.")) rmSync(join(folder, name));
  expect(await start(folder, "with").line()).toBe(`held ${holder.pid}`);
});
