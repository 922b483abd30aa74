import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { watchForeignActivity } from "../../../src/store/refs/foreign-activity.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { gitRepo } from "../../support/git-repo.ts";

function setup() {
  const repo = gitRepo();
  const clock = fakeClock();
  return { repo, clock, activity: watchForeignActivity(repo.gitdir, "refs/heads/main", clock, 30_000) };
}

test("a person's commit, stage or checkout counts for the window and no longer", () => {
  const { repo, clock, activity } = setup();
  const deeds: (() => void)[] = [
    () => repo.git("commit", "-q", "--allow-empty", "-m", "x"),
    () => {
      writeFileSync(join(repo.root, "a"), "");
      repo.git("add", "a");
    },
    () => repo.git("checkout", "-q", "-b", "other"),
  ];
  for (const deed of deeds) {
    activity.look();
    clock.advance(30_000);
    expect(activity.isActive()).toBe(false);
    deed();
    activity.look();
    expect(activity.isActive()).toBe(true);
    clock.advance(29_999);
    expect(activity.isActive()).toBe(true);
    clock.advance(1);
    expect(activity.isActive()).toBe(false);
  }
});

test("our own publication doesn't count once it is settled; a lock that was seen does", () => {
  const { repo, activity } = setup();
  repo.git("commit", "-q", "--allow-empty", "-m", "ours");
  activity.settle();
  activity.look();
  expect(activity.isActive()).toBe(false);
  activity.saw();
  expect(activity.isActive()).toBe(true);
});
