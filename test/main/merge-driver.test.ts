import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { deinit } from "../../src/main/deinit.ts";
import { writeLauncher } from "../../src/main/hooks.ts";
import { init } from "../../src/main/init.ts";
import { BIN, cleanEnv } from "../support/daemon.ts";

let top: string;
let repo: string;
const env = () => ({ ...cleanEnv(), HOME: top });
const around = () => ({ cwd: repo, env: env(), warn: () => {} });
const NAMED = ["-c", "user.name=P", "-c", "user.email=p@x"];
const git = (...args: string[]) =>
  execFileSync("git", ["-C", repo, ...NAMED, ...args], {
    encoding: "utf8",
    env: env(),
    stdio: "pipe",
  }).trim();
const tryGit = (...args: string[]) =>
  spawnSync("git", ["-C", repo, ...NAMED, ...args], { encoding: "utf8", env: env() });
const NOTE = "notes/a.md";
const text = (path = NOTE) => readFileSync(join(repo, path), "utf8");
function save(content: string, path = NOTE): void {
  mkdirSync(dirname(join(repo, path)), { recursive: true });
  writeFileSync(join(repo, path), content);
}
function commit(content: string, path = NOTE): void {
  save(content, path);
  git("add", "-A");
  git("commit", "-q", "-m", "by hand");
}
const note = (tags: string, body: string, at = "10") =>
  `---\nid: n1\ntitle: A\ntags: [${tags}]\nupdated_at: 2026-11-30T${at}:00:00.000Z\n---\n\n${body}`;
const kept = () =>
  git("for-each-ref", "--format=%(refname)", "refs/notesd/conflicts").split("\n").filter(Boolean);

beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "notesd-merge it's 100%-")));
  repo = join(top, "repo");
  await init({ dir: repo, roots: null, branch: null, remote: null, env: env(), nowMs: Date.now() });
  const place = await gitPlaceAt(repo);
  if (place === null) throw new Error("no repository");
  await writeLauncher(place, process.execPath, BIN);
  commit(note("a", "one\n\ntwo\n\nthree\n"));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** The same note changed on a branch `other` and on main, which is checked out. */
function parted(theirs: string, ours: string): void {
  git("checkout", "-q", "-b", "other");
  commit(theirs);
  git("checkout", "-q", "main");
  commit(ours);
}

test("git merge of a note whose keys and lines both sides changed gives one note, without a conflict", () => {
  parted(note("a, b", "one\n\ntwo\n\nTHREE\n", "12"), note("a, c", "ONE\n\ntwo\n\nthree\n", "11"));
  git("merge", "-q", "--no-edit", "other");
  expect(text()).toBe(note("a, c, b", "ONE\n\ntwo\n\nTHREE\n", "12"));
  expect(git("status", "--porcelain")).toBe("");
  expect(kept()).toEqual([]);
});

test("what doesn't merge leaves ours, keeps theirs reachable, and says so; never a marker", () => {
  parted(note("a", "one\n\ntheirs\n\nthree\n"), note("a", "one\n\nours\n\nthree\n"));
  const merged = tryGit("merge", "--no-edit", "other");
  expect(merged.status).toBe(0);
  expect(merged.stdout + merged.stderr).toContain("notesd conflicts n1");
  expect(text()).toBe(note("a", "one\n\nours\n\nthree\n"));
  const [ref = ""] = kept();
  expect(git("show", `${ref}:theirs`)).toContain("theirs");
  expect(git("show", `${ref}:ours`)).toContain("ours");
  expect(JSON.parse(git("show", `${ref}:note.json`))).toMatchObject({ note_id: "n1", path: NOTE });
  expect(tryGit("fsck", "--strict", "--no-dangling").status).toBe(0);
});

test.each(["--merge", "--apply"])("in a rebase %s it says whose version stands and whose is kept", (how) => {
  parted(note("a", "one\n\nmine\n\nthree\n"), note("a", "one\n\nupstream\n\nthree\n"));
  git("checkout", "-q", "other");
  const rebased = tryGit("rebase", how, "main");
  const said = rebased.stdout + rebased.stderr;
  expect(said).toContain("as on the branch that you rebase onto; your version is kept");
  expect(said).toContain("notesd conflicts n1");
  const [ref = ""] = kept();
  expect(git("show", `${ref}:theirs`)).toContain("mine");
});

test("rebase, cherry-pick and stash pop merge notes too", () => {
  parted(note("a, b", "one\n\ntwo\n\nthree\n"), note("a", "ONE\n\ntwo\n\nthree\n"));
  git("cherry-pick", "other");
  expect(text()).toBe(note("a, b", "ONE\n\ntwo\n\nthree\n"));
  git("checkout", "-q", "other");
  commit(note("a, b", "one\n\ntwo\n\nTHREE\n"));
  git("rebase", "-q", "main");
  expect(text()).toBe(note("a, b", "ONE\n\ntwo\n\nTHREE\n"));
  save(note("a, b, c", "ONE\n\ntwo\n\nTHREE\n"));
  git("stash");
  commit(note("a, b", "ONE\n\n2\n\nTHREE\n"));
  git("stash", "pop");
  expect(text()).toBe(note("a, b, c", "ONE\n\n2\n\nTHREE\n"));
});

test("a criss-cross merge asks for a base without keeping anything as a conflict of it", () => {
  parted(note("a", "one\n\ntheirs\n\nthree\n"), note("a", "one\n\nours\n\nthree\n"));
  const [main, other] = [git("rev-parse", "main"), git("rev-parse", "other")];
  git("merge", "-q", "-s", "ours", "--no-edit", other);
  git("checkout", "-q", "other");
  git("merge", "-q", "-s", "ours", "--no-edit", main);
  git("merge", "-q", "--no-edit", "main");
  expect(text()).not.toMatch(/^[<=>|]{7}/m);
  expect(kept().length).toBeLessThanOrEqual(1);
});

test("without the launcher Git merges by lines, with its own markers where it must", () => {
  parted(note("a", "one\n\ntwo\n\nTHREE\n"), note("a", "ONE\n\ntwo\n\nthree\n"));
  rmSync(join(repo, ".git/notesd/bin"));
  git("merge", "-q", "--no-edit", "other");
  expect(text()).toBe(note("a", "ONE\n\ntwo\n\nTHREE\n"));
  git("checkout", "-q", "other");
  git("reset", "-q", "--hard", "HEAD~1");
  commit(note("a", "1\n\ntwo\n\nthree\n"));
  expect(tryGit("merge", "--no-edit", "main").status).toBe(1);
  expect(text()).toMatch(/^<{7}/m);
});

test("deinit takes the driver out of Git's config again", async () => {
  expect(git("config", "merge.notesd.driver")).toContain("merge-driver %O %A %B %P");
  await deinit({ repo }, around());
  expect(tryGit("config", "--get-regexp", "^merge\\.notesd").stdout).toBe("");
});
