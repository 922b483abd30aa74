import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { gitLocks } from "../../../src/store/refs/git-lock.ts";
import { deleteLocalRef, writeLocalRef } from "../../../src/store/refs/local-refs.ts";
import { gitRepo } from "../../support/git-repo.ts";

const NAME = "refs/notesd/conflicts/aa/bb";

function setup() {
  const repo = gitRepo();
  repo.git("commit", "-q", "--allow-empty", "-m", "first");
  const locks = gitLocks({ gitdir: repo.gitdir, clock: systemClock, lockWaitMs: 0 });
  return { repo, locks, id: repo.git("rev-parse", "HEAD") as CommitId };
}

test("a ref that we write is Git's, packed or not, and gone for Git when we delete it", async () => {
  const { repo, locks, id } = setup();
  await writeLocalRef(locks, repo.gitdir, NAME, id);
  await writeLocalRef(locks, repo.gitdir, NAME, id);
  expect(repo.git("rev-parse", NAME)).toBe(id);
  repo.git("tag", "-a", "-m", "peeled", "t");
  repo.git("pack-refs", "--all");
  await deleteLocalRef(locks, repo.gitdir, NAME);
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/tags/t");
  await writeLocalRef(locks, repo.gitdir, NAME, id);
  await deleteLocalRef(locks, repo.gitdir, NAME);
  await deleteLocalRef(locks, repo.gitdir, NAME);
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/tags/t");
  expect(existsSync(join(repo.gitdir, "refs/notesd/conflicts"))).toBe(false);
  expect(repo.git("fsck", "--strict")).toBe("");
});

test("a held lock refuses and changes nothing", async () => {
  const { repo, locks, id } = setup();
  await writeLocalRef(locks, repo.gitdir, NAME, id);
  writeFileSync(join(repo.gitdir, "packed-refs.lock"), "");
  await expect(deleteLocalRef(locks, repo.gitdir, NAME)).rejects.toMatchObject({ code: "REPO_BUSY" });
  expect(repo.git("rev-parse", NAME)).toBe(id);
  expect(existsSync(join(repo.gitdir, `${NAME}.lock`))).toBe(false);
});

test("no other ref is ever written or deleted here", async () => {
  const { repo, locks, id } = setup();
  for (const name of ["refs/heads/main", "refs/notesd/../heads/main", "HEAD"]) {
    await expect(writeLocalRef(locks, repo.gitdir, name, id)).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(deleteLocalRef(locks, repo.gitdir, name)).rejects.toMatchObject({ code: "INTERNAL" });
  }
});
