import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { appendReflog, reflogLine } from "../../../src/store/refs/reflog.ts";
import { gitRepo } from "../../support/git-repo.ts";

test("Git reads our lines as its own, after a line that a crash cut short, too", () => {
  const repo = gitRepo();
  repo.git("commit", "-q", "--allow-empty", "-m", "first");
  const from = repo.git("rev-parse", "HEAD") as CommitId;
  const to = repo.git("commit-tree", "-p", from, "-m", "second", "HEAD^{tree}") as CommitId;
  appendFileSync(join(repo.gitdir, "logs/HEAD"), from.slice(0, 20));
  const hostile = {
    name: "not<esd\nx",
    email: "n@x>",
    atMs: 1_700_000_000_999,
    message: "commit: a\nforged line",
  };
  for (const ref of ["HEAD", "refs/heads/main"])
    appendReflog(repo.gitdir, ref, reflogLine({ from, to, ...hostile }));
  repo.git("update-ref", "--no-deref", "refs/notesd/keep", to);
  for (const ref of ["HEAD", "main"])
    expect(repo.git("log", "-g", "-1", "--date=unix", "--format=%H %gd %gn %ge %gs", ref)).toBe(
      `${to} ${ref}@{1700000000} notesd n@x commit: a`,
    );
});

test("the first commit of a branch starts its log from zeros", () => {
  const repo = gitRepo();
  const tree = repo.gitBytes(["mktree"]).toString().trim();
  const to = repo.git("commit-tree", "-m", "root", tree) as CommitId;
  const line = reflogLine({
    from: null,
    to,
    name: "n",
    email: "e",
    atMs: 1_000,
    message: "commit (initial): root",
  });
  appendReflog(repo.gitdir, "refs/heads/a/b", line);
  mkdirSync(join(repo.gitdir, "refs/heads/a"));
  writeFileSync(join(repo.gitdir, "refs/heads/a/b"), `${to}\n`);
  expect(line.startsWith(`${"0".repeat(40)} ${to} n <e> 1 +0000\t`)).toBe(true);
  expect(repo.git("reflog", "show", "--format=%gs", "a/b")).toBe("commit (initial): root");
});
