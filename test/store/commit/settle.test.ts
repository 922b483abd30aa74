/** What follows a commit when the disk refuses it: told to people, and done without waiting for the next start. */
import { mkdirSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
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

test("a link that the disk refuses is owed and made later: its intent stands, also over a start", async () => {
  const clock = fakeClock();
  const warned: string[] = [];
  const on = await storeOnGit({ clock, warn: (what) => warned.push(what) });
  const tip = committed((await on.store.commit([draft("notes/a.md", "one\n")])).outcomes[0]).events.commit.id;
  const made = (args: string[], input: string) => on.repo.gitBytes(args, input).toString().trim();
  const blob = made(["hash-object", "-w", "--stdin"], "../notes");
  const below = made(["mktree"], `120000 blob ${blob}\tlatest\n`);
  const tree = made(["mktree"], `${on.repo.git("ls-tree", tip)}\n040000 tree ${below}\tfolder\n`);
  const named = ["-c", "user.name=P", "-c", "user.email=p@x"];
  const to = on.repo.git(...named, "commit-tree", "-p", tip, "-m", "theirs", tree) as CommitId;
  on.save("folder", "in the way\n");
  const wish = { kind: "forward", from: tip, to, atMs: 1_796_050_000_000, why: "sync" } as const;
  expect(await on.store.advance(wish)).toMatchObject({ kind: "moved", pending: ["folder/latest"] });
  expect(on.store.pending()).toEqual(["folder/latest"]);
  await on.store.close();

  await on.reopen();
  expect(on.store.pending()).toEqual(["folder/latest"]);
  expect(allPlaced(on.repo.gitdir)).toBe(false);
  on.save("folder", null);
  clock.advance(1_000);
  await until("the intent to be settled", () => allPlaced(on.repo.gitdir));
  expect(readlinkSync(join(on.repo.root, "folder/latest"))).toBe("../notes");
  expect(on.repo.git("status", "--porcelain")).toBe("");
  expect(on.store.pending()).toEqual([]);
  await on.store.close();
});
