/** A move of very many files: placed under the locks, with turns for everybody else in between. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Step } from "../../../src/store/commit/publication.ts";
import { committed, draft } from "../../support/drafts.ts";
import { plumbCommit, storeOnGit } from "../../support/store-on-git.ts";

const FILES = 1_500;

test("many files are placed in slices: the loop has its turns, Git waits, and what a person saves meanwhile stands", async () => {
  let step: Step = "answered";
  const on = await storeOnGit({
    onStep(now) {
      step = now;
    },
  });
  const tip = committed((await on.store.commit([draft("notes/a.md", "one\n")])).outcomes[0]).events.commit.id;
  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, n) => [`notes/n${String(n).padStart(4, "0")}.md`, `${n}\n`]),
  );
  const to = plumbCommit(on.repo, files, [tip], 1_796_050_000_000);
  const last = `notes/n${FILES - 1}.md`;
  let turns = 0;
  let isDone = false;
  const watch = () => {
    if (step === "file") {
      turns++;
      expect(existsSync(join(on.repo.gitdir, "index.lock"))).toBe(true);
      if (turns === 1) on.save(last, "a person's\n");
    }
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  const wish = { kind: "forward", from: tip, to, atMs: 1_796_050_000_000, why: "sync" } as const;
  const moved = await on.store.advance(wish);
  isDone = true;
  expect(moved).toMatchObject({ kind: "moved", pending: [] });
  expect(turns).toBeGreaterThan(0);
  expect(on.text(last)).toBe("a person's\n");
  expect(on.repo.git("status", "--porcelain")).toBe(` M ${last}`);
  await on.store.close();
});
