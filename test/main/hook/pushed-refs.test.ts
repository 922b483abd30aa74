/** Which refs a push may move, judged on what is there and not on what Git would show instead. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { markName } from "../../../src/domain/identity.ts";
import { gitPlaceAt } from "../../../src/lib/git-dir.ts";
import { hookGit } from "../../../src/main/hook/hook-git.ts";
import { parseUpdates, refFaults } from "../../../src/main/hook/pushed-refs.ts";
import { cleanEnv, git, removeFolder, tempFolder } from "../../support/daemon.ts";

let root: string;
beforeEach(() => {
  root = tempFolder();
  git(root, "init", "-q", "-b", "main");
  git(root, "config", "user.name", "Pat");
  git(root, "config", "user.email", "pat@example.com");
  git(root, "commit", "-q", "--allow-empty", "-m", "ours");
});
afterEach(() => removeFolder(root));

const RULES = { branch: "main", roots: ["notes"], types: [], note_bytes: 1_000, file_bytes: 1_000 };
async function faults(...lines: string[]): Promise<string[]> {
  return faultsOf(null, ...lines);
}
async function faultsOf(pusher: string | null, ...lines: string[]): Promise<string[]> {
  const place = await gitPlaceAt(root);
  if (place === null) throw new Error("no repository");
  const found = await refFaults(hookGit(place, cleanEnv()), parseUpdates(lines.join("\n")), RULES, pusher);
  return found.map(({ where, what }) => `${where} ${what}`);
}
const ZERO = "0".repeat(40);
const head = () => git(root, "rev-parse", "HEAD");

test("branches, tags, merges and a person's mark may be pushed, and no other ref", async () => {
  const mark = "refs/notesd/review/abcdefgh234567ab";
  const free = ["refs/heads/topic", "refs/tags/v1", "refs/for/main", mark];
  expect(await faults(...free.map((ref) => `${ZERO} ${head()} ${ref}`))).toEqual([]);
  for (const ref of [
    `refs/replace/${head()}`,
    "refs/notes/commits",
    "refs/notesd/base",
    `${mark}x`,
    "refs/stash",
    "refs/remotes/origin/main",
  ])
    expect(await faults(`${ZERO} ${head()} ${ref}`)).toEqual([`${ref} is none that a push may move`]);
});

test("an unrelated history is not ahead, even where a replacement pretends it is", async () => {
  const ours = head();
  const tree = git(root, "rev-parse", "HEAD^{tree}");
  const stranger = git(root, "commit-tree", "-m", "stranger", tree);
  const pretended = git(root, "commit-tree", "-p", ours, "-m", "stranger", tree);
  git(root, "replace", stranger, pretended);
  expect(await faults(`${ours} ${stranger} refs/heads/main`)).toEqual([
    "refs/heads/main is not ahead of the branch here, and history is never replaced",
  ]);
});

test("a person pushes their own mark and nobody else's; who writes the folder itself is not asked", async () => {
  const own = `refs/notesd/review/${markName("kim@example.org")}`;
  const others = `refs/notesd/review/${markName("pat@example.com")}`;
  const lines = [own, others, "refs/heads/topic"].map((ref) => `${ZERO} ${head()} ${ref}`);
  expect(await faultsOf("kim@example.org", ...lines)).toEqual([
    `${others} is another person's mark of reviews`,
  ]);
  expect(await faultsOf("kim@example.org", `${head()} ${ZERO} ${others}`)).toEqual([
    `${others} is another person's mark of reviews`,
  ]);
  expect(await faults(...lines)).toEqual([]);
});
