import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { mergePacks } from "../../../src/store/objects/merge-packs.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { type ReplaceStep, replacePacks } from "../../../src/store/objects/replace-packs.ts";
import type { GitRepo } from "../../support/git-repo.ts";
import { expectSound, grow, packFiles, reachable } from "../../support/packs.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const names = (files: readonly string[]) => files.map((file) => file.replace(/^pack-|\.\w+$/g, ""));

/** The three moments of a `git repack -ad`: it lists the packs, packs what is reachable and not kept, removes the listed. */
function repackInMoments(repo: GitRepo) {
  const kept = () => new Set(names(packFiles(repo, ".keep")));
  let listed: string[] = [];
  return [
    () => {
      const keep = kept();
      listed = names(packFiles(repo, ".pack")).filter((name) => !keep.has(name));
    },
    () => {
      const made = repo.git(
        ..."pack-objects -q --all --reflog --indexed-objects --honor-pack-keep --non-empty .git/objects/pack/pack".split(
          " ",
        ),
      );
      listed = listed.filter((name) => name !== made);
    },
    () => {
      for (const name of listed) {
        for (const ending of ["idx", "pack"]) rmSync(packFile(repo.gitdir, name, ending), { force: true });
      }
      repo.git("prune", "--expire=now");
    },
  ];
}

test("whenever a git repack -ad lists, packs and removes while packs are replaced, nothing reachable is lost", async () => {
  const MOMENTS: readonly ReplaceStep[] = ["written", "kept", "indexed", "noted", "removed", "forgotten"];
  const on = await storeOnGit();
  await grow(on, 4);
  await on.store.close();
  let tried = 0;
  for (let list = 0; list < MOMENTS.length; list++) {
    for (let pack = list; pack < MOMENTS.length; pack++) {
      for (let remove = pack; remove < MOMENTS.length; remove++) {
        // Two packs, one of them fresh each time.
        await on.reopen();
        await grow(on, 1, 4 + tried++);
        await on.store.close();
        const before = reachable(on.repo);
        const [first, second, third] = repackInMoments(on.repo);
        const old = names(packFiles(on.repo, ".pack"));
        const { name } = mergePacks(on.repo.gitdir, old);
        replacePacks(on.repo.gitdir, name, old, (step) => {
          const moment = MOMENTS.indexOf(step);
          if (moment === list) first?.();
          if (moment === pack) second?.();
          if (moment === remove) third?.();
        });
        expect(reachable(on.repo)).toBe(before);
        expect(on.repo.tryGit("fsck", "--strict", "--no-dangling").stderr).toBe("");
        expect(packFiles(on.repo, ".keep")).toEqual([]);
      }
    }
  }
  expectSound(on.repo);
});
