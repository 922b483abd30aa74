/** What follows a commit when the disk refuses it: told to people, and done without waiting for the next start. */
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { allPlaced, intentsOnDisk } from "../../support/intents-on-disk.ts";
import { storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

test("a prepared file that can't be dropped is told of, and the intent is settled later, not at the next start", async () => {
  const clock = fakeClock();
  const warned: string[] = [];
  let inTheWay = "";
  const on = await storeOnGit({
    clock,
    warn: (what) => warned.push(what),
    onStep(step) {
      if (step !== "answered" || inTheWay !== "") return;
      const folder = join(on.repo.gitdir, "notesd/prepared");
      inTheWay = join(folder, readdirSync(folder)[0] ?? "");
      rmSync(inTheWay);
      mkdirSync(inTheWay);
    },
  });
  committed((await on.store.commit([draft("notes/a.md", "one\n")])).outcomes[0]);
  await until("people to be told", () => warned.length > 0);
  expect(warned).toEqual(["what follows a commit could not be done"]);
  expect(intentsOnDisk(on.repo.gitdir)).toMatchObject([{ placed: false }]);

  rmdirSync(inTheWay);
  clock.advance(1_000);
  await until("the intent to be settled", () => allPlaced(on.repo.gitdir));
  expect(on.text("notes/a.md")).toBe("one\n");
  expect(on.repo.git("status", "--porcelain")).toBe("");
  await on.store.close();
});
