import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { init } from "../../src/main/init.ts";
import { initPlace } from "../../src/main/init-place.ts";

let top: string;
let repo: string;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-init-")));
  repo = join(top, "notes repo");
});
afterEach(() => rm(top, { recursive: true, force: true }));

const nowMs = Date.parse("2026-11-30T10:15:00Z");
const env = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], HOME: top, GIT_CONFIG_NOSYSTEM: "1" });
const git = (dir: string, ...args: string[]) =>
  execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", env: env(), stdio: "pipe" }).trim();
const run = (more: Partial<Parameters<typeof init>[0]> = {}) =>
  init({ dir: repo, roots: null, branch: null, remote: null, env: env(), nowMs, ...more });

test("makes a marked repository with its keys, its config and one commit", async () => {
  await writeFile(join(top, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n");
  expect(await run()).toEqual({
    repo,
    branch: "main",
    roots: ["notes", "memory"],
    made: true,
    again: false,
    markdown_outside_roots: 0,
  });
  expect(git(repo, "log", "--format=%an <%ae> %cn %s")).toBe(
    "Pat <pat@example.org> notesd init: notes keep their bytes",
  );
  expect(git(repo, "status", "--porcelain", "--ignored")).toBe("");
  expect(git(repo, "fsck", "--strict")).toBe("");
  for (const [key, value] of [
    ["core.fsync", "committed,reference"],
    ["core.trustctime", "false"],
    ["index.version", "2"],
    ["uploadpack.allowFilter", "true"],
    ["receive.denyCurrentBranch", "updateInstead"],
    ["notesd.marked", "true"],
    ["notesd.splitIndex", "true"],
    ["core.hooksPath", join(repo, ".git/notesd/hooks")],
  ] as const) {
    expect(git(repo, "config", key)).toBe(value);
  }
  const mode = async (name: string) => (await stat(join(repo, ".git/notesd", name))).mode & 0o777;
  expect([await mode(""), await mode("token"), await mode("proof.key")]).toEqual([0o700, 0o600, 0o600]);
  expect(await readFile(join(repo, ".git/notesd/proof.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  expect(git(repo, "check-attr", "text", "filter", "merge", "--", "notes/2026/11/30/x.md")).toMatch(
    /text: unset\n.*filter: unset\n.*merge: notesd/,
  );
});

test("a second time changes nothing that the first one made", async () => {
  await run({ roots: ["docs"] });
  const files = ["token", "proof.key", "config.json", "persons.json"].map((f) =>
    join(repo, ".git/notesd", f),
  );
  const look = () => Promise.all([...files, join(repo, ".git/config")].map((file) => readFile(file, "utf8")));
  const before = await look();
  expect(await run()).toMatchObject({ made: false, again: true, roots: ["notes", "memory", "docs"] });
  expect(await look()).toEqual(before);
  expect(git(repo, "rev-list", "--count", "HEAD")).toBe("1");
});

test("works without Git on the path, and Git finds nothing wrong afterwards", async () => {
  await run({ env: { PATH: "/nonexistent", HOME: top } });
  expect(git(repo, "fsck", "--strict")).toBe("");
  expect(git(repo, "log", "--format=%s")).toBe("init: notes keep their bytes");
});

test("no .gitattributes that comes later, however near, makes Git convert a note", async () => {
  await run();
  const bytes = "---\ntitle: $Id$\n---\none\ntwo\n";
  await mkdir(join(repo, "notes"));
  await writeFile(
    join(repo, "notes/.gitattributes"),
    "*.md text eol=crlf ident filter=odd working-tree-encoding=UTF-16\n",
  );
  await writeFile(join(repo, "notes/a.md"), bytes);
  git(repo, "add", ".");
  git(repo, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "by a push");
  await rm(join(repo, "notes/a.md"));
  git(repo, "checkout", "--", "notes/a.md");
  expect(await readFile(join(repo, "notes/a.md"), "utf8")).toBe(bytes);
  // What init would refuse in an adopted repository: it finds that nothing is converted.
  expect(await run()).toMatchObject({ again: true });
});

test("a person's own line below ours that converts notes is refused with its place", async () => {
  await run();
  await appendFile(join(repo, ".git/info/attributes"), "*.md text\n");
  await expect(run()).rejects.toThrow(/info\/attributes:\d+ lets Git convert line endings/);
});

test("adopts a repository: no commit, no changed file, the hook that was there still runs", async () => {
  git(top, "init", "-q", "-b", "trunk", repo);
  await writeFile(join(repo, "a.md"), "# a\n");
  await mkdir(join(repo, "docs"));
  await writeFile(join(repo, "docs/b.md"), "# b\n");
  git(repo, "add", ".");
  git(repo, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "first");
  await mkdir(join(repo, ".husky"));
  await writeFile(join(repo, ".husky/pre-commit"), "#!/bin/sh\necho ran >> ran.txt\n", { mode: 0o755 });
  git(repo, "config", "core.hooksPath", ".husky");
  const head = git(repo, "rev-parse", "HEAD");
  const report = await run({ roots: ["my docs"] });
  expect(report).toMatchObject({ made: false, branch: "trunk", markdown_outside_roots: 2 });
  expect(git(repo, "rev-parse", "HEAD")).toBe(head);
  expect(git(repo, "check-attr", "text", "--", "my docs/x/y.md")).toMatch(/text: unset$/);
  expect(git(repo, "config", "notesd.hooksPath")).toBe(".husky");
  await run();
  expect(git(repo, "config", "notesd.hooksPath")).toBe(".husky");
  git(repo, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "--allow-empty", "-m", "second");
  expect(await readFile(join(repo, "ran.txt"), "utf8")).toBe("ran\n");
});

test("the repository's own hooks folder still runs too, and a failing hook still refuses", async () => {
  await run();
  await writeFile(join(repo, ".git/hooks/commit-msg"), '#!/bin/sh\ngrep -q ok "$1"\n', { mode: 0o755 });
  const commit = (message: string) =>
    git(repo, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "--allow-empty", "-m", message);
  expect(() => commit("bad")).toThrow();
  commit("ok");
});

test("a remote's password is refused before it is written", async () => {
  await expect(run({ remote: "https://u:secret@x.example/r.git" })).rejects.toMatchObject({ exit: 2 });
  await run({ remote: "https://x.example/r.git" });
  expect(git(repo, "remote", "get-url", "origin")).toBe("https://x.example/r.git");
});

test("a detached HEAD is refused and a named branch taken", async () => {
  git(top, "init", "-q", "-b", "trunk", repo);
  git(repo, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "--allow-empty", "-m", "x");
  git(repo, "checkout", "-q", "--detach");
  await expect(run()).rejects.toThrow(/on no branch/);
  expect(await run({ branch: "trunk" })).toMatchObject({ branch: "trunk" });
});

async function codeRepository(): Promise<string> {
  const code = join(top, "code");
  git(top, "init", "-q", code);
  await mkdir(join(code, "src"));
  await writeFile(join(code, "src/a.js"), "1\n");
  git(code, "add", ".");
  return code;
}

test("in a code repository .notes is proposed, and nobody to ask is exit 2 naming both ways", async () => {
  const code = await codeRepository();
  const wish = { dir: null, cwd: join(code, "src"), here: false, ask: null };
  await expect(initPlace(wish)).rejects.toMatchObject({
    exit: 2,
    message: expect.stringMatching(/\.notes[\s\S]*--here/),
  });
  const questions: string[] = [];
  const ask = async (question: string) => questions.push(question) > 0;
  const place = await initPlace({ ...wish, ask });
  expect(place).toBe(join(code, ".notes"));
  expect(questions).toHaveLength(1);
  await run({ dir: place });
  expect(git(code, "status", "--porcelain")).toBe("A  src/a.js");
  expect(await initPlace({ ...wish, cwd: place })).toBe(place);
  expect(await initPlace({ ...wish, here: true })).toBe(code);
  await expect(initPlace({ ...wish, ask: async () => false })).rejects.toMatchObject({ exit: 2 });
});

test("a named folder inside another repository becomes its own and is ignored there", async () => {
  const code = await codeRepository();
  const place = await initPlace({ dir: "note book", cwd: code, here: false, ask: null });
  await run({ dir: place });
  expect(git(code, "status", "--porcelain")).toBe("A  src/a.js");
  expect(await initPlace({ dir: "note book", cwd: code, here: false, ask: null })).toBe(place);
  await expect(initPlace({ dir: "src", cwd: code, here: false, ask: null })).rejects.toThrow(/tracks/);
});

test("a repository of Markdown alone is adopted as it is", async () => {
  git(top, "init", "-q", repo);
  await writeFile(join(repo, "a.md"), "a");
  git(repo, "add", ".");
  expect(await initPlace({ dir: null, cwd: repo, here: false, ask: null })).toBe(repo);
});

test("a file, or a folder below one, is no place for a repository", async () => {
  await writeFile(join(top, "file"), "x");
  for (const dir of [join(top, "file"), join(top, "file/below")]) {
    await expect(run({ dir })).rejects.toMatchObject({
      exit: 2,
      message: expect.stringMatching(/is a file/),
    });
  }
});
