import { type ChildProcess, spawn } from "node:child_process";
import { expect, test } from "vitest";
import { createNoteIndex } from "../../../src/index/create.ts";
import { draft } from "../../support/drafts.ts";
import { GIT_ENV } from "../../support/git-env.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const NOTES = 600;
const REPACKS = 12;

test("an index is rebuilt right while git repack -adf and git gc run in a loop beside it", async () => {
  const { repo, store } = await storeOnGit();
  const text = (n: number, round: number) => `---\nid: n${n}\n---\n\n${`line ${n} ${round}\n`.repeat(20)}`;
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < NOTES; n += 50) {
      const group = Array.from({ length: 50 }, (_, i) => n + i).map((k) =>
        draft(`notes/d${k % 7}/n${k}.md`, text(k, round), round === 0 ? null : text(k, round - 1)),
      );
      await store.commit(group);
    }
  }
  const tip = await store.tip();
  if (tip === null) throw new Error("nothing was committed");
  const build = async () => {
    const index = createNoteIndex();
    await index.rebuild(store.history(null, tip), (id) => store.readBlob(id));
    return index.digest();
  };
  const quiet = await build();

  let repacks = 0;
  let running: ChildProcess | null = null;
  const failed: string[] = [];
  const repack = () => {
    const args =
      repacks % 3 === 2 ? ["gc", "-q", "--prune=now"] : ["repack", "-adfq", `--depth=${1 + repacks * 4}`];
    running = spawn("git", args, { cwd: repo.root, env: GIT_ENV, stdio: ["ignore", "ignore", "pipe"] });
    running.stderr?.on("data", (said) => failed.push(String(said)));
    running.on("exit", () => {
      repacks++;
      if (repacks < REPACKS) repack();
      else running = null;
    });
  };
  repack();
  let built = 0;
  while (running !== null) {
    expect(await build()).toBe(quiet);
    built++;
  }
  expect([repacks, failed]).toEqual([REPACKS, []]);
  expect(built).toBeGreaterThan(1);
  expect(repo.git("fsck", "--strict")).toBe("");
  await store.close();
});
