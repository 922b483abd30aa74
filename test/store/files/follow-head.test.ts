/** Base beside a person's own Git, when the store begins later than their commands. */
import { expect, test } from "vitest";
import { blobIdOf } from "../../../src/domain/identity.ts";
import type { CommitId, RepoPath } from "../../../src/domain/note.ts";
import { plumbCommit, storeOnGit } from "../../support/store-on-git.ts";

const PATH = "notes/page.md" as RepoPath;
const blobOf = (text: string) => blobIdOf(Buffer.from(text));

async function begun() {
  const on = await storeOnGit();
  on.save(PATH, "old\n");
  on.repo.git("add", "-A");
  on.repo.git("commit", "-q", "-m", "begin");
  const tip = on.repo.git("rev-parse", "main") as CommitId;
  on.store.workTree.accept(PATH, blobOf("old\n"));
  const base = () => on.store.workTree.base(PATH);
  const commit = (text: string | null) => {
    on.save(PATH, text);
    on.repo.git("commit", "-q", "-a", "-m", "by hand");
    return on.repo.git("rev-parse", "main");
  };
  const alone = (text: string | null) =>
    on.repo.git(
      "update-ref",
      "refs/heads/main",
      plumbCommit(on.repo, { [PATH]: text }, ["main" as CommitId], 0),
    );
  return { on, tip, base, commit, alone };
}

test("a store that begins after their commit lets base follow it", async () => {
  const { on, tip, base, commit } = await begun();
  await on.store.close();
  const to = commit("new\n");
  await on.reopen();
  expect(await on.store.followHead(tip, false)).toEqual({ tip: to, paths: [PATH], told: true });
  expect(base()).toBe(blobOf("new\n"));
  expect((await on.store.followHead(tip, true)).paths).toEqual([]);
  await on.store.close();
});

test("a branch that was moved alone takes no base along", async () => {
  const { on, tip, base, alone } = await begun();
  await on.store.followHead(tip, false);
  alone("pushed\n");
  expect((await on.store.followHead(null, false)).paths).toEqual([]);
  expect(base()).toBe(blobOf("old\n"));
  await on.store.close();
});

test("nor does one whose log tells nothing", async () => {
  const { on, tip, base, commit } = await begun();
  await on.store.followHead(tip, false);
  on.repo.git("config", "core.logAllRefUpdates", "false");
  on.repo.git("reflog", "expire", "--expire=all", "--all");
  on.save(".git/logs/HEAD", null);
  commit("new\n");
  expect((await on.store.followHead(null, false)).paths).toEqual([]);
  expect(base()).toBe(blobOf("old\n"));
  await on.store.close();
});

test("a file that they keep under a branch reset forward is theirs", async () => {
  const { on, tip, base, commit } = await begun();
  const to = commit("new\n");
  on.repo.git("reset", "-q", "--hard", tip);
  await on.store.followHead(tip, false);
  on.repo.git("reset", "-q", to);
  expect((await on.store.followHead(null, false)).paths).toEqual([PATH]);
  expect([on.text(PATH), base()]).toEqual(["old\n", blobOf("new\n")]);
  await on.store.close();
});
