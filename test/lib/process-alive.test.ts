import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { watchProcess } from "../../src/lib/process-alive.ts";

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
