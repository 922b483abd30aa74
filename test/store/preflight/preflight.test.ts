import { mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PreflightWish, preflight } from "../../../src/store/preflight/preflight.ts";
import { type GitRepo, gitRepo, temporaryFolder } from "../../support/git-repo.ts";

function committed(...initArgs: string[]): GitRepo {
  const repo = gitRepo(...initArgs);
  mkdirSync(join(repo.root, "notes"));
  writeFileSync(join(repo.root, "notes/a.md"), "a");
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "first");
  return repo;
}

const wishOf = (repo: GitRepo, more: Partial<PreflightWish> = {}): PreflightWish => ({
  root: realpathSync(repo.root),
  gitdir: realpathSync(repo.gitdir),
  ref: "refs/heads/main",
  roots: ["notes", "memory"],
  paths: ["notes/a.md"],
  uid: process.getuid?.() ?? null,
  ...more,
});

const kinds = async (wish: PreflightWish) => (await preflight(wish)).map(({ kind }) => kind);

test("an ordinary repository passes, without commits and with, and nothing is left behind", async () => {
  const repo = committed();
  const before = [...readdirSync(repo.root), ...readdirSync(repo.gitdir)];
  expect(await preflight(wishOf(repo))).toEqual([]);
  expect(await preflight(wishOf(gitRepo()))).toEqual([]);
  expect([...readdirSync(repo.root), ...readdirSync(repo.gitdir)]).toEqual(before);
});

test.each([
  ["index", ["update-index", "--index-version", "4"]],
  ["index", ["update-index", "--split-index"]],
  ["index", ["config", "index.version", "4"]],
  ["index", ["config", "core.splitIndex", "true"]],
  ["sparse-checkout", ["sparse-checkout", "set", "--no-cone", "/notes/"]],
  ["bare", ["config", "core.bare", "true"]],
  ["ref-format", ["config", "extensions.refStorage", "reftable"]],
  ["extension", ["config", "extensions.strange", "1"]],
  ["partial-clone", ["config", "extensions.partialClone", "origin"]],
  ["work-tree-elsewhere", ["config", "core.worktree", "/"]],
] as const)("%s is refused with what to do: git %s", async (kind, args) => {
  const repo = committed();
  repo.git(...args);
  const found = await preflight(wishOf(repo));
  expect(found.map((one) => one.kind)).toContain(kind);
  for (const { message } of found) expect(message).toMatch(/(?:git|[Rr]un|Set|Fetch|Move|notesd init).+\.$/s);
});

test("with notesd.splitIndex, which init sets, a split index is served", async () => {
  const repo = committed();
  repo.git("config", "core.splitIndex", "true");
  repo.git("config", "notesd.splitIndex", "true");
  repo.git("update-index", "--split-index");
  expect(await kinds(wishOf(repo))).toEqual([]);
  for (const name of readdirSync(repo.gitdir))
    if (name.startsWith("sharedindex.")) rmSync(join(repo.gitdir, name));
  const [found] = await preflight(wishOf(repo));
  expect(found).toMatchObject({ kind: "index", message: expect.stringMatching(/is missing.*read-tree/) });
});

test("sha256 and alternates are refused, a shallow clone is not", async () => {
  expect(await kinds(wishOf(committed("--object-format=sha256")))).toEqual(["object-format"]);
  const origin = committed();
  origin.git("commit", "-q", "--allow-empty", "-m", "second");
  const clone = (...args: string[]) => {
    const root = temporaryFolder();
    origin.git("clone", "-q", ...args, `file://${origin.root}`, root);
    return { ...origin, root, gitdir: join(root, ".git") };
  };
  expect(await kinds(wishOf(clone("--reference", origin.root)))).toEqual(["alternates"]);
  expect(await kinds(wishOf(clone("--depth", "1")))).toEqual([]);
  expect(await kinds(wishOf(clone()))).toEqual([]);
});

test("a linked working tree is refused, and so is our branch checked out in one", async () => {
  const repo = committed();
  const linked = join(temporaryFolder(), "linked");
  repo.git("branch", "side");
  repo.git("worktree", "add", "-q", linked, "side");
  expect(await kinds(wishOf(repo))).toEqual([]);
  expect(await kinds(wishOf(repo, { ref: "refs/heads/side" }))).toEqual(["branch-in-worktree"]);
  const gitdir = realpathSync(repo.git("-C", linked, "rev-parse", "--absolute-git-dir"));
  expect(await kinds(wishOf(repo, { root: realpathSync(linked), gitdir }))).toEqual(["linked-worktree"]);
});

test("another user's repository is refused, naming both", async () => {
  const found = await preflight(wishOf(committed(), { uid: 4_242 }));
  expect(found[0]?.kind).toBe("owner");
  expect(found[0]?.message).toMatch(/id \d+, and this is 4242/);
});

test("a Git directory on another file system is refused", async () => {
  const repo = committed();
  expect(await kinds(wishOf(repo, { root: "/proc", uid: null }))).toContain("device");
});

test("an attribute that converts notes is refused, naming its line", async () => {
  const repo = committed();
  writeFileSync(join(repo.root, ".gitattributes"), "*.md filter=lfs\n");
  const found = await preflight(wishOf(repo));
  expect(found.map((one) => one.kind)).toEqual(["attributes"]);
  expect(found[0]?.message).toContain(".gitattributes:1 ");
});

test("a damaged index is a refusal, not a crash", async () => {
  const repo = committed();
  writeFileSync(join(repo.gitdir, "index"), "");
  expect(await kinds(wishOf(repo))).toEqual(["index"]);
});
