/** The words of native Git's reflog, and how HEAD came to a commit by them. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { headSteps, stepKind } from "../../../src/store/refs/head-log.ts";
import { appendReflog } from "../../../src/store/refs/reflog.ts";
import { gitRepo } from "../../support/git-repo.ts";

const PERSON = "Pat <pat@example.org> 1 +0000";

test.each([
  ["commit: x", "commit"],
  ["commit (initial): x", "commit"],
  ["commit (amend): x", "commit"],
  ["commit (merge): x", "commit"],
  ["commit (cherry-pick): x", "commit"],
  ["cherry-pick: x", "commit"],
  ["revert: x", "commit"],
  ["am: x", "commit"],
  ["merge side: Fast-forward", "moved"],
  ["pull: Fast-forward", "moved"],
  ["pull origin main: Merge made by the 'ort' strategy.", "moved"],
  ["rebase (finish): returning to refs/heads/main", "moved"],
  ["checkout: moving from side to main", "moved"],
  ["reset: moving to HEAD~1", "moved"],
  ["reset: moving to HEAD", "alone"],
  ["push", "alone"],
  ["fetch: fast-forward", "alone"],
  ["", "alone"],
] as const)("%s → %s", (message, kind) => expect(stepKind(PERSON, message)).toBe(kind));

test("lines of ours are ours, whatever they say", () =>
  expect(stepKind("notesd <notesd@notesd.invalid> 1 +0000", "commit: x")).toBe("ours"));

function commits(count: number) {
  const repo = gitRepo();
  const ids = Array.from({ length: count }, (_, n) => {
    repo.git("commit", "-q", "--allow-empty", "-m", `${n}`);
    return repo.git("rev-parse", "HEAD") as CommitId;
  });
  return { repo, ids, at: (n: number) => ids.at(n) as CommitId };
}

test("commits in a row are one step, and told once", () => {
  const { repo, at } = commits(4);
  const first = headSteps(repo.gitdir, at(3), at(1), null);
  expect(first.steps).toEqual([{ kind: "commit", from: at(1), to: at(3) }]);
  expect(headSteps(repo.gitdir, at(3), at(3), first.end).steps).toEqual([]);
});

test("a line that was written before its ref is told when the ref has moved", () => {
  const { repo, at } = commits(3);
  const early = headSteps(repo.gitdir, at(1), at(0), null);
  expect(early.steps).toEqual([{ kind: "commit", from: at(0), to: at(1) }]);
  expect(headSteps(repo.gitdir, at(2), at(1), early.end).steps).toEqual([
    { kind: "commit", from: at(1), to: at(2) },
  ]);
});

test("a line that led nowhere is no step", () => {
  const { repo, at } = commits(2);
  const by = { name: "Pat", email: "pat@example.org", atMs: 0 };
  const line = `${at(1)} ${"1".repeat(40)} Pat <pat@example.org> 0 +0000\tcommit: failed\n`;
  appendReflog(repo.gitdir, "HEAD", line);
  repo.git("-c", `user.name=${by.name}`, "commit", "-q", "--allow-empty", "-m", "next");
  const next = repo.git("rev-parse", "HEAD") as CommitId;
  expect(headSteps(repo.gitdir, next, at(1), null).steps).toEqual([
    { kind: "commit", from: at(1), to: next },
  ]);
});

test("no log, or one that doesn't reach back, tells no step", () => {
  const { repo, at } = commits(2);
  expect(headSteps(repo.gitdir, at(1), "2".repeat(40) as CommitId, null).steps).toEqual([]);
  rmSync(join(repo.gitdir, "logs/HEAD"));
  expect(headSteps(repo.gitdir, at(1), at(0), null)).toEqual({ steps: [], end: null });
});

test("a long log is read from its end", () => {
  const { repo, at } = commits(2);
  const lines = Array.from(
    { length: 1500 },
    () =>
      `${at(1)} ${at(0)} Pat <pat@example.org> 0 +0000\treset: moving to x\n${at(0)} ${at(1)} Pat <pat@example.org> 0 +0000\treset: moving to y\n`,
  ).join("");
  const before = headSteps(repo.gitdir, at(1), at(0), null).end;
  appendReflog(repo.gitdir, "HEAD", lines);
  expect(headSteps(repo.gitdir, at(1), "3".repeat(40) as CommitId, before).steps).toEqual([
    { kind: "moved", from: at(1), to: at(1) },
  ]);
});
