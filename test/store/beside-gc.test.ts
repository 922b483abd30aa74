import { expect, test } from "vitest";
import type { Step } from "../../src/store/commit/publication.ts";
import { committed, draft } from "../support/drafts.ts";
import { expectSound } from "../support/packs.ts";
import { storeOnGit } from "../support/store-on-git.ts";

test("a person who repacks and prunes everything at each step of a commit takes nothing of it away", async () => {
  const steps = new Set<Step>();
  const on = await storeOnGit({
    onStep: (step) => {
      steps.add(step);
      on.repo.git("repack", "-adq");
      on.repo.git("prune-packed", "-q");
      on.repo.git("prune", "--expire=now");
    },
  });
  for (let n = 0; n < 2; n++) {
    const chain = [
      draft("notes/a.md", `a${n + 1}\n`, n === 0 ? null : `a${n}\n`),
      draft(`notes/b${n}.md`, "b\n"),
    ];
    for (const outcome of (await on.store.commit(chain)).outcomes) committed(outcome);
  }
  expect(steps.size).toBeGreaterThan(10);
  expect(on.repo.git("rev-list", "--count", "HEAD")).toBe("4");
  expect(on.repo.git("show", "HEAD:notes/a.md")).toBe("a2");
  expect(on.repo.git("status", "--porcelain")).toBe("");
  expectSound(on.repo);
  await on.store.close();
});
