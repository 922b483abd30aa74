import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { upkeepThread } from "../../../src/store/objects/upkeep-thread.ts";
import { gitRepo, temporaryFolder } from "../../support/git-repo.ts";
import { until } from "../../support/wait.ts";

test("one thread does task after task, also after one that failed, and none once it was stopped", async () => {
  const { gitdir } = gitRepo();
  const thread = upkeepThread();
  const task = { kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null } as const;
  for (let nth = 0; nth < 3; nth++) expect(await thread.run(task)).toMatchObject({ packs: 0, removed: 0 });
  await expect(thread.run({ kind: "install", gitdir, folder: "/nowhere", old: [] })).rejects.toThrow();
  expect(await thread.run(task)).toMatchObject({ packs: 0 });
  await thread.stop();
  await expect(thread.run(task)).rejects.toThrow("stopped");
});

test("where the thread's code was never built the work is done in place, and none once it was stopped", async () => {
  const { gitdir } = gitRepo();
  const thread = upkeepThread(new URL("file:///nowhere.js"));
  const task = { kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null } as const;
  expect(await thread.run(task)).toMatchObject({ packs: 0 });
  await thread.stop();
  await expect(thread.run(task)).rejects.toThrow("stopped");
});

test("a thread that breaks while nobody asks it anything ends nothing, and the next task gets a new one", async () => {
  const file = join(temporaryFolder(), "breaks.mjs");
  const code = `import { parentPort, threadId } from "node:worker_threads";
parentPort.on("message", () => {
  parentPort.postMessage({ result: { packs: threadId } });
  setImmediate(() => { throw new Error("broken between tasks"); });
});`;
  writeFileSync(file, code);
  const thread = upkeepThread(pathToFileURL(file));
  const task = { kind: "merge", gitdir: "", effort: "quiet", leave: [], looseAtMs: null } as const;
  const first = await thread.run(task);
  await until("the next thread", async () => {
    const { packs } = await thread.run(task).catch(() => first);
    return packs !== first.packs;
  });
  await thread.stop();
});
