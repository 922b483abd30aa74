import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { pidSpace, watchProcess } from "../../src/lib/process-alive.ts";

test("a process lives until it is killed, and what can't be one is not watched", async () => {
  const child = spawn("sleep", ["60"]);
  const lives = watchProcess(child.pid ?? 0);
  expect(lives?.()).toBe(true);
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
  expect(lives?.()).toBe(false);
  for (const pid of [0, 1, -5, 1.5, child.pid ?? 0]) expect(watchProcess(pid)).toBe(null);
});

test("a process that is gone already is told apart from one that can't be seen from here", async () => {
  const child = spawn("true");
  const pid = child.pid ?? 0;
  await new Promise((resolve) => child.once("close", resolve));
  expect(watchProcess(pid, pidSpace())?.()).toBe(false);
  // The same number elsewhere is another process.
  expect(watchProcess(process.pid, "another kernel pid:[1]")).toBe(null);
  expect(watchProcess(process.pid, pidSpace())?.()).toBe(true);
});
