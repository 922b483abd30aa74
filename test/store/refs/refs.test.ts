import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRefName, listRefs, readHead, readRef } from "../../../src/store/refs/refs.ts";
import { gitRepo } from "../../support/git-repo.ts";

const MAIN = "refs/heads/main";
const commit = (repo: ReturnType<typeof gitRepo>, message = "x") => {
  repo.git("commit", "-q", "--allow-empty", "-m", message);
  return repo.git("rev-parse", "HEAD");
};

test("an unborn branch is null, and HEAD names it", () => {
  const { gitdir } = gitRepo();
  expect(readRef(gitdir, MAIN)).toBeNull();
  expect(readHead(gitdir)).toEqual({ kind: "branch", ref: MAIN });
});

test("loose, packed, and loose again over packed", () => {
  const repo = gitRepo();
  const first = commit(repo);
  expect(readRef(repo.gitdir, MAIN)).toBe(first);
  repo.git("tag", "-a", "-m", "peeled", "t");
  repo.git("pack-refs", "--all");
  expect(readRef(repo.gitdir, MAIN)).toBe(first);
  const second = commit(repo);
  expect(readRef(repo.gitdir, MAIN)).toBe(second);
  expect(readRef(repo.gitdir, "refs/heads/mai")).toBeNull();
});

test("an empty folder of a branch's name doesn't hide its packed ref", () => {
  const repo = gitRepo();
  const id = commit(repo);
  repo.git("pack-refs", "--all");
  mkdirSync(join(repo.gitdir, MAIN), { recursive: true });
  expect(readRef(repo.gitdir, MAIN)).toBe(id);
});

test("a detached HEAD, a symbolic branch, and HEAD as a symbolic link", () => {
  const repo = gitRepo();
  const id = commit(repo);
  repo.git("symbolic-ref", "refs/heads/alias", MAIN);
  expect(readRef(repo.gitdir, "refs/heads/alias")).toBe(id);
  repo.git("checkout", "-q", "--detach");
  expect(readHead(repo.gitdir)).toEqual({ kind: "detached", id });
  rmSync(join(repo.gitdir, "HEAD"));
  symlinkSync(MAIN, join(repo.gitdir, "HEAD"));
  expect(repo.git("symbolic-ref", "HEAD")).toBe(MAIN);
  expect(readHead(repo.gitdir)).toEqual({ kind: "branch", ref: MAIN });
});

test.each([
  ["zero-length", ""],
  ["blank", "\n"],
  ["cut short", "1234567890abcdef"],
  ["of zero bytes", "\0".repeat(41)],
  ["outside refs", "ref: ../../etc/passwd\n"],
])("a %s ref is STORAGE naming the file, never an unborn branch", (_, content) => {
  const { gitdir } = gitRepo();
  writeFileSync(join(gitdir, MAIN), content);
  expect(() => readRef(gitdir, MAIN)).toThrow(
    expect.objectContaining({ code: "STORAGE", message: expect.stringContaining(MAIN) }),
  );
  writeFileSync(join(gitdir, "HEAD"), content);
  expect(() => readHead(gitdir)).toThrow(/HEAD/);
});

test.each([
  ["empty", ""],
  ["cut", `# pack-refs with: peeled\n${"a".repeat(40)} ${MAIN}`],
  ["malformed", `${"a".repeat(39)} ${MAIN}\n`],
])("an %s packed-refs is STORAGE", (_, content) => {
  const { gitdir } = gitRepo();
  writeFileSync(join(gitdir, "packed-refs"), content);
  expect(() => readRef(gitdir, MAIN)).toThrow(expect.objectContaining({ code: "STORAGE" }));
});

test("a ring of symbolic refs ends in an error", () => {
  const { gitdir } = gitRepo();
  writeFileSync(join(gitdir, "refs/heads/a"), "ref: refs/heads/b\n");
  writeFileSync(join(gitdir, "refs/heads/b"), "ref: refs/heads/a\n");
  expect(() => readRef(gitdir, "refs/heads/a")).toThrow(expect.objectContaining({ code: "STORAGE" }));
});

test("listing a folder agrees with git for-each-ref", () => {
  const repo = gitRepo();
  const first = commit(repo);
  for (const name of ["a/1", "a/2", "b/1"]) repo.git("update-ref", `refs/notesd/${name}`, first);
  repo.git("pack-refs", "--all");
  const second = commit(repo);
  repo.git("update-ref", "refs/notesd/a/2", second);
  repo.git("update-ref", "refs/notesd/a/3", second);
  writeFileSync(join(repo.gitdir, "refs/notesd/a/4.lock"), "");
  const listed = listRefs(repo.gitdir, "refs/notesd").map((ref) => `${ref.id} ${ref.name}`);
  expect(listed.join("\n")).toBe(
    repo.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/notesd"),
  );
  expect(listRefs(repo.gitdir, "refs/notesd/b")).toEqual([{ name: "refs/notesd/b/1", id: first }]);
  expect(listRefs(repo.gitdir, "refs/none")).toEqual([]);
});

test("ref names are judged as git check-ref-format does", () => {
  const { tryGit } = gitRepo();
  const names = [
    "a",
    "a/b",
    "ä",
    "a.b",
    ".a",
    "a/.b",
    "a..b",
    "a.lock",
    "a/b.lock/c",
    "a b",
    "a@{b",
    "@",
    "a//b",
  ];
  names.push("a/", "a.", "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "a\x7f", "../../x", "-a");
  for (const name of names.map((one) => `refs/heads/${one}`))
    expect([name, isRefName(name)]).toEqual([name, tryGit("check-ref-format", name).status === 0]);
});
