import { cpSync, existsSync, lstatSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { BlobId, CommitId } from "../../../src/domain/note.ts";
import { over, readIndex } from "../../../src/store/git-index/git-index.ts";
import { openSharedIndexes, type SharedIndexes } from "../../../src/store/git-index/shared-index.ts";
import { splitBytes } from "../../../src/store/git-index/split-index.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { type GitRepo, gitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { plumbCommit, textOf } from "../../support/store-on-git.ts";

function put(repo: GitRepo, path: string, text: string): void {
  mkdirSync(dirname(join(repo.root, path)), { recursive: true });
  writeFileSync(join(repo.root, path), text);
}

const sharedOf = (repo: GitRepo) =>
  openSharedIndexes({
    gitdir: repo.gitdir,
    clock: fakeClock(),
    fewestEntries: 1,
    troubled: (error) => {
      throw error;
    },
  });

/** Put our own split index in place of the one that stands. */
async function split(repo: GitRepo, shared: SharedIndexes): Promise<void> {
  const { index } = readIndex(repo.gitdir, shared.open);
  shared.follow(index.image);
  await shared.settled();
  const image = shared.onNewest(index.image);
  writeFileSync(join(repo.gitdir, "index"), splitBytes(image, image.shared ?? ""));
}

/** Commit notes as we do: branch, files and index, on whatever index stands. */
function commitOurs(repo: GitRepo, paths: readonly string[], shared: SharedIndexes | null): void {
  const read = readIndex(repo.gitdir, shared?.open);
  const image = shared?.onNewest(read.index.image) ?? read.index.image;
  const edits = paths.map((path) => {
    const text = `${path}, ${read.index.count} entries\n`;
    put(repo, path, text);
    const held = read.index.at(at(path))[0];
    // Entries of notes are blobs.
    const expected = (held?.id ?? null) as BlobId | null;
    return {
      path: at(path),
      expected,
      blob: blobOf(text),
      stat: lstatSync(join(repo.root, path), { bigint: true }),
    };
  });
  const tip = repo.git("rev-parse", "HEAD") as CommitId;
  const files = Object.fromEntries(paths.map((path) => [path, textOf(repo.root, path)]));
  repo.git("update-ref", "HEAD", plumbCommit(repo, files, [tip], 1_796_033_700_000));
  writeFileSync(join(repo.gitdir, "index"), over(image).edit(edits).bytes);
}

const isSplit = (repo: GitRepo, shared: SharedIndexes) =>
  readIndex(repo.gitdir, shared.open).index.image.shared !== null;

type Act = (repo: GitRepo) => void;
const git =
  (...args: string[]): Act =>
  (repo) => {
    repo.git(...args);
  };
const save =
  (path: string, text: string): Act =>
  (repo) =>
    put(repo, path, text);

/** Only where the index is ours to split. */
const oursOnly =
  (act: Act): Act =>
  (repo) => {
    if (existsSync(join(repo.gitdir, "notesd"))) act(repo);
  };

/** Each runs on the repository that the one before left. */
const COMMANDS: readonly (readonly [string, ...Act[]])[] = [
  ["status", git("status")],
  ["add", save("notes/1.md", "added"), git("add", "notes/1.md")],
  ["commit", git("commit", "-qm", "one")],
  ["commit -a", save("notes/2.md", "all"), git("commit", "-qam", "two")],
  [
    "commit PATH",
    save("notes/3.md", "some"),
    save("notes/4.md", "others"),
    git("add", "notes/4.md"),
    git("commit", "-qm", "three", "notes/3.md"),
  ],
  ["commit --amend", git("commit", "-q", "--amend", "-m", "four")],
  [
    "stash",
    save("notes/5.md", "stashed"),
    git("add", "notes/5.md"),
    git("stash", "push", "-q"),
    git("stash", "pop", "-q", "--index"),
  ],
  ["stash -u", save("notes/untracked.md", "u"), git("stash", "push", "-q", "-u"), git("stash", "pop", "-q")],
  ["reset --mixed", git("reset", "-q", "--mixed", "HEAD")],
  ["restore --staged", git("add", "-A"), git("restore", "--staged", "notes/5.md")],
  ["reset --hard", git("reset", "-q", "--hard", "HEAD")],
  [
    "switch -c",
    git("switch", "-q", "-c", "topic"),
    save("notes/6.md", "topic"),
    git("commit", "-qam", "topic"),
  ],
  ["checkout", git("checkout", "-q", "main"), save("notes/7.md", "main"), git("commit", "-qam", "main")],
  ["merge", git("merge", "-q", "--no-ff", "-m", "merged", "topic")],
  [
    "cherry-pick",
    git("switch", "-q", "topic"),
    save("notes/8.md", "picked"),
    git("commit", "-qam", "pick me"),
    git("switch", "-q", "main"),
    git("cherry-pick", "topic"),
  ],
  ["revert", git("revert", "--no-edit", "HEAD")],
  [
    "rebase",
    git("switch", "-q", "-c", "based", "HEAD~2"),
    save("notes/9.md", "based"),
    git("commit", "-qam", "based"),
    git("rebase", "-q", "main"),
  ],
  [
    "merge with a conflict",
    save("notes/10.md", "ours"),
    git("commit", "-qam", "ours"),
    git("switch", "-q", "main"),
    save("notes/10.md", "theirs"),
    git("commit", "-qam", "theirs"),
    (repo) => void repo.tryGit("merge", "based"),
  ],
  [
    "add of a conflict, merge --continue",
    save("notes/10.md", "both"),
    git("add", "notes/10.md"),
    git("commit", "-qm", "resolved"),
  ],
  ["mv", git("mv", "notes/11.md", "notes/moved.md")],
  ["rm", git("rm", "-q", "notes/12.md")],
  ["rm --cached", git("rm", "-q", "--cached", "notes/13.md")],
  ["add -N", save("notes/intended.md", "x"), git("add", "-N", "notes/intended.md")],
  [
    "write-tree, read-tree",
    git("reset", "-q"),
    git("read-tree", "HEAD~1"),
    git("write-tree"),
    git("read-tree", "HEAD"),
  ],
  ["checkout -- PATH", save("notes/14.md", "lost"), git("checkout", "--", "notes/14.md")],
  [
    "format-patch, am",
    (repo) => {
      put(repo, "notes/15.md", "mailed");
      repo.git("commit", "-qm", "mailed", "notes/15.md");
      const patch = repo.gitBytes(["format-patch", "-1", "--stdout"]);
      repo.git("reset", "-q", "--hard", "HEAD~1");
      repo.gitBytes(["am", "-q"], patch);
    },
  ],
  [
    "apply --index",
    (repo) =>
      repo.gitBytes(["apply", "--index", "--reverse"], repo.gitBytes(["diff", "HEAD~1", "HEAD"])) &&
      undefined,
  ],
  ["checkout -f", git("checkout", "-q", "-f", "HEAD")],
  [
    "update-index --refresh",
    // Of another age, so that there is something to write, however old the files are by then.
    (repo) => utimesSync(join(repo.root, "notes/16.md"), 1, 1),
    git("update-index", "-q", "--really-refresh"),
  ],
  [
    "update-index --chmod, --assume-unchanged, --skip-worktree",
    git("update-index", "--chmod=+x", "notes/16.md"),
    git("update-index", "--assume-unchanged", "notes/17.md"),
    git("update-index", "--skip-worktree", "notes/18.md"),
  ],
  [
    "update-index --no-skip-worktree",
    git("update-index", "--no-skip-worktree", "notes/18.md"),
    git("update-index", "--no-assume-unchanged", "notes/17.md"),
    git("reset", "-q", "--hard"),
  ],
  ["gc", git("gc", "-q", "--prune=now")],
  ["fsck", git("fsck", "--strict")],
  ["worktree add", (repo) => repo.git("worktree", "add", "-q", "--detach", join(temporaryFolder(), "tree"))],
  ["clone", (repo) => repo.git("clone", "-q", ".", join(temporaryFolder(), "clone"))],
  ["clean", git("clean", "-fdq")],
  ["bisect", git("bisect", "start", "-q", "HEAD", "HEAD~3"), git("bisect", "reset")],
  ["grep --cached", git("grep", "--cached", "-c", "main")],
  [
    "submodule",
    (repo) =>
      repo.git(
        "update-index",
        "--add",
        "--cacheinfo",
        `160000,${repo.git("rev-list", "--max-parents=0", "HEAD")},notes/sub`,
      ),
  ],
  ["rm of a submodule", git("rm", "-q", "--cached", "notes/sub")],
  [
    "-c core.splitIndex=false add",
    save("notes/19.md", "whole"),
    git("-c", "core.splitIndex=false", "add", "notes/19.md"),
  ],
  ["update-index --split-index", oursOnly(git("update-index", "--split-index"))],
  ["add of a person's split index", save("notes/20.md", "x"), git("add", "notes/20.md")],
  [
    "reset with their own shared index",
    oursOnly(git("-c", "splitIndex.maxPercentChange=0", "update-index", "--force-write-index")),
    git("reset", "-q", "--hard"),
  ],
  ["update-index --no-split-index", oursOnly(git("update-index", "--no-split-index"))],
];

/** What a person sees of index, files and branch, without ids that hold the time. */
function sight({ git }: GitRepo) {
  return {
    entries: git("ls-files", "-s", "-t", "-v"),
    status: git("status", "--porcelain=v1"),
    staged: git("diff", "--cached", "--raw", "--abbrev=40"),
    tree: git("rev-parse", "HEAD^{tree}"),
  };
}

test("every command of Git does with our split index what it does with a whole one, and we with what it leaves", async () => {
  const whole = gitRepo();
  for (let n = 1; n <= 40; n++) put(whole, `notes/${n}.md`, `note ${n}\n`);
  put(whole, "code/x", "x");
  whole.git("add", "-A");
  whole.git("commit", "-qm", "first");
  for (const n of ["a", "b"]) {
    put(whole, "notes/1.md", n);
    whole.git("commit", "-qam", n);
  }
  const root = temporaryFolder();
  cpSync(whole.root, root, { recursive: true });
  const ours = repoAt(root);
  ours.git("update-index", "-q", "--refresh");
  const shared = sharedOf(ours);
  await split(ours, shared);
  const madeWhole: string[] = [];
  let step = 0;
  for (const [name, ...acts] of COMMANDS) {
    for (const act of acts) {
      act(whole);
      act(ours);
    }
    expect({ name, ...sight(ours) }).toEqual({ name, ...sight(whole) });
    expect({
      name,
      entries: [...readIndex(ours.gitdir, shared.open).index.entries()].map(
        ({ path, id, mode, stage, intentToAdd }) => [path, id, mode, stage, intentToAdd],
      ),
    }).toEqual({
      name,
      entries: [...readIndex(whole.gitdir).index.entries()].map(({ path, id, mode, stage, intentToAdd }) => [
        path,
        id,
        mode,
        stage,
        intentToAdd,
      ]),
    });
    if (!isSplit(ours, shared)) madeWhole.push(name);
    step++;
    // A merge of a person's is waited for.
    if (existsSync(join(ours.gitdir, "MERGE_HEAD"))) continue;
    const paths = [`memory/${step % 7}.md`, `notes/z/${step}.md`];
    for (const repo of [whole, ours]) commitOurs(repo, paths, repo === ours ? shared : null);
    expect({ name, entries: ours.git("ls-files", "-s") }).toEqual({
      name,
      entries: whole.git("ls-files", "-s"),
    });
  }
  expect(sight(ours)).toEqual(sight(whole));
  expect(ours.git("log", "--format=%s")).toBe(whole.git("log", "--format=%s"));
  ours.git("fsck", "--strict");
  // The others keep the form that they find, though core.splitIndex is not set.
  expect(madeWhole).toEqual([
    "write-tree, read-tree",
    "update-index --refresh",
    "-c core.splitIndex=false add",
    "update-index --no-split-index",
  ]);
});

test("a person's Git that drops the shared index leaves an error with a way out", async () => {
  const repo = gitRepo();
  put(repo, "notes/1.md", "x");
  repo.git("add", "-A");
  const shared = sharedOf(repo);
  await split(repo, shared);
  const name = readIndex(repo.gitdir, shared.open).index.image.shared ?? "";
  rmSync(join(repo.gitdir, `sharedindex.${name}`));
  expect(() => readIndex(repo.gitdir, sharedOf(repo).open)).toThrow(/is missing.*read-tree HEAD/);
});
