import { expect, test } from "vitest";
import { upkeepThread } from "../../../src/store/objects/upkeep-thread.ts";
import { gitRepo } from "../../support/git-repo.ts";

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
