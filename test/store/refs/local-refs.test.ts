import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { gitLocks } from "../../../src/store/refs/git-lock.ts";
import { deleteLocalRef, writeLocalRef } from "../../../src/store/refs/local-refs.ts";
import { gitRepo } from "../../support/git-repo.ts";

const NAME = "refs/notesd/conflicts/aa/bb";

function setup() {
  const repo = gitRepo();
  repo.git("commit", "-q", "--allow-empty", "-m", "first");
  const locks = gitLocks({ gitdir: repo.gitdir, clock: systemClock, lockWaitMs: 0 });
  const objects = gitObjects(repo.gitdir);
  return {
    repo,
    locks,
    parts: { gitdir: repo.gitdir, locks, objects },
    id: repo.git("rev-parse", "HEAD") as CommitId,
  };
}

test("a ref that we write is Git's, packed or not, and gone for Git when we delete it", async () => {
  const { repo, locks, parts, id } = setup();
  await writeLocalRef(parts, NAME, id);
  await writeLocalRef(parts, NAME, id);
  expect(repo.git("rev-parse", NAME)).toBe(id);
  repo.git("tag", "-a", "-m", "peeled", "t");
  repo.git("pack-refs", "--all");
  await deleteLocalRef(locks, repo.gitdir, NAME);
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/tags/t");
  await writeLocalRef(parts, NAME, id);
  await deleteLocalRef(locks, repo.gitdir, NAME);
  await deleteLocalRef(locks, repo.gitdir, NAME);
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/tags/t");
  expect(existsSync(join(repo.gitdir, "refs/notesd/conflicts"))).toBe(false);
  expect(repo.git("fsck", "--strict")).toBe("");
});

test("a held lock refuses and changes nothing", async () => {
  const { repo, locks, parts, id } = setup();
  await writeLocalRef(parts, NAME, id);
  writeFileSync(join(repo.gitdir, "packed-refs.lock"), "");
  await expect(deleteLocalRef(locks, repo.gitdir, NAME)).rejects.toMatchObject({ code: "REPO_BUSY" });
  expect(repo.git("rev-parse", NAME)).toBe(id);
  expect(existsSync(join(repo.gitdir, `${NAME}.lock`))).toBe(false);
});

test("no other ref is ever written or deleted here", async () => {
  const { repo, locks, parts, id } = setup();
  for (const name of ["refs/heads/main", "refs/notesd/../heads/main", "HEAD"]) {
    await expect(writeLocalRef(parts, name, id)).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(deleteLocalRef(locks, repo.gitdir, name)).rejects.toMatchObject({ code: "INTERNAL" });
  }
});

test("an id that is not here is refused: a ref to it would stop a person's Git", async () => {
  const { repo, parts } = setup();
  const absent = "a".repeat(40) as CommitId;
  await expect(writeLocalRef(parts, NAME, absent)).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
  expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
});
