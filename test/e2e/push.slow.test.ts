/** The rest of `push.test.ts` and `push-behind.test.ts`: refusals of each kind by both ways, own hooks, no daemon. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { git, notesd, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { type Clone, cloneFrom, gitUrl } from "../support/pusher.ts";

const served = servedRepo();
const folder = tempFolder();
afterAll(() => removeFolder(folder));

let clones = 0;
const clone = (way: "http" | "path", ...args: string[]): Promise<Clone> =>
  cloneFrom(
    way === "http" ? gitUrl(served.daemon, served.daemon.token) : served.repo,
    join(folder, `clone-${++clones}`),
    ...args,
  );
const WAYS = ["http", "path"] as const;
const note = (title: string, body = "") => `---\ntitle: ${title}\ntype: blocker\n---\n${body}\n`;
const status = () => git(served.repo, "status", "--porcelain");

test("a partial clone and its later fetch work", async () => {
  const written = await served.rpc.call("notes.create", { title: "By an agent", content: "fetch me" });
  const partial = await clone("http", "--filter=blob:none");
  expect(readFileSync(join(partial.dir, written.path), "utf8")).toContain("fetch me");
  expect(git(partial.dir, "config", "remote.origin.partialclonefilter")).toBe("blob:none");
  expect(await partial.run("fetch")).toMatchObject({ code: 0 });
});

test.each(WAYS)("history is never replaced and no branch deleted by %s, whatever is forced", async (way) => {
  const theirs = await clone(way);
  git(theirs.dir, "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten");
  const forced = await theirs.run("push", "--force");
  expect(forced.code).not.toBe(0);
  expect(forced.text).toMatch(/history is never replaced[\s\S]*refs\/for\/main/);
  const gone = await theirs.run("push", "origin", ":main");
  expect(gone.text).toMatch(/a push deletes no branch here/);
  const own = await theirs.run("push", "origin", "HEAD:refs/notesd/conflicts/x");
  expect(own.code).not.toBe(0);
  const tip = git(served.repo, "rev-parse", "HEAD");
  const pretended = await theirs.run("push", "origin", `HEAD:refs/replace/${tip}`);
  expect(pretended.text).toMatch(/refs\/replace\/\w+: is none that a push may move/);
  expect(status()).toBe("");
});

test.each(WAYS)(
  "what is staged or changed and no note refuses the push by %s, naming the file",
  async (way) => {
    const theirs = await clone(way);
    const file = `plan-${way}.txt`;
    writeFileSync(join(served.repo, file), "staged\n");
    git(served.repo, "add", file);
    theirs.commit({ [`notes/blocked-${way}.md`]: note("Blocked") });
    const staged = await theirs.run("push");
    expect(staged.code).not.toBe(0);
    expect(staged.text).toMatch(new RegExp(`${file}: .*\\n.*(?:Commit|git commit)`));
    git(served.repo, "commit", "-q", "-m", "the plan");
    await theirs.run("pull", "-q", "--rebase");
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    expect(status()).toBe("");
  },
);

test("a large push over HTTP comes compressed or in chunks, and writes wait for it and go on", async () => {
  const theirs = await clone("http");
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`notes/many/n${i}.md`, note(`Many ${i}`, `${Math.random()}`)]),
  );
  theirs.commit(files);
  git(theirs.dir, "config", "http.postBuffer", "65536");
  const writing = Promise.all(
    Array.from({ length: 5 }, (_, i) => served.rpc.call("notes.create", { title: `W ${i}`, content: "x" })),
  );
  await writing;
  let pushed = await theirs.run("push");
  if (pushed.code !== 0) {
    await theirs.run("pull", "-q", "--rebase");
    pushed = await theirs.run("push");
  }
  expect(pushed).toMatchObject({ code: 0 });
  expect((await served.rpc.call("notes.create", { title: "After", content: "x" })).commit).toBe(
    git(served.repo, "rev-parse", "HEAD"),
  );
  expect(status()).toBe("");
  expect(await served.rpc.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
});

test("another branch and a tag may be pushed, and move no file", async () => {
  const theirs = await clone("http");
  theirs.commit({ "notes/topic.md": note("On a topic") });
  expect(await theirs.run("push", "origin", "HEAD:refs/heads/topic", "HEAD:refs/tags/v1")).toMatchObject({
    code: 0,
  });
  expect(git(served.repo, "rev-parse", "topic")).toBe(git(theirs.dir, "rev-parse", "HEAD"));
  expect(status()).toBe("");
});

test("with no daemon a push by path is checked as well, and the next start knows what came", async () => {
  const repo = join(tempFolder(), "alone");
  try {
    notesd(["init", repo]);
    git(repo, "config", "user.name", "Pat");
    git(repo, "config", "user.email", "pat@example.com");
    const theirs = await cloneFrom(repo, join(folder, "alone"));
    theirs.commit({ "notes/a.md": "---\nid: own-1\n---\nfine\n" });
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    expect(readFileSync(join(repo, "notes/a.md"), "utf8")).toContain("fine");
    theirs.commit({ "notes/b.md": "---\nid: own-1\n---\ntwin\n" });
    const twin = await theirs.run("push");
    expect(twin.text).toMatch(/notes\/b\.md: has the id own-1, which notes\/a\.md has/);
    git(theirs.dir, "reset", "-q", "--hard", "HEAD~");
    writeFileSync(join(repo, "notes/a.md"), "---\nid: own-1\n---\nedited here\n");
    theirs.commit({ "notes/c.md": "c\n" });
    const dirty = await theirs.run("push");
    expect(dirty.text).toMatch(/notes\/a\.md: holds changes there that are not committed/);
    git(repo, "commit", "-q", "-a", "-m", "by hand");
    await theirs.run("pull", "-q", "--rebase");
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    expect(git(repo, "status", "--porcelain")).toBe("");
  } finally {
    removeFolder(join(repo, ".."));
  }
});

test("what has no common history, a bad note and another branch's refs/for are refused in words", async () => {
  const theirs = await clone("http");
  theirs.commit({ "notes/bad.md": "---\ntags: [a\n---\n" });
  const bad = await theirs.run("push", "origin", "HEAD:refs/for/main");
  expect(bad.text).toMatch(/notes\/bad\.md:\d: can't be read as a note/);
  git(theirs.dir, "checkout", "-q", "--orphan", "other");
  theirs.commit({ "notes/bad.md": null, "notes/stranger.md": "# Stranger\n" });
  const stranger = await theirs.run("push", "origin", "HEAD:refs/for/main");
  expect(stranger.code).not.toBe(0);
  expect(stranger.text).toMatch(/shares no history/);
  const other = await theirs.run("push", "origin", "HEAD:refs/for/topic");
  expect(other.text).toMatch(/Push to refs\/for\/main/);
});

test("a repository's own hooks of a push run as well, with their input, and can refuse", async () => {
  const hooks = join(served.repo, ".git/hooks");
  mkdirSync(hooks, { recursive: true });
  for (const name of ["pre-receive", "post-receive"]) {
    writeFileSync(join(hooks, name), `#!/bin/sh\ncat >> "${folder}/${name}"\n! [ -e "${folder}/refuse" ]\n`);
    chmodSync(join(hooks, name), 0o755);
  }
  const theirs = await clone("path");
  const commit = theirs.commit({ "notes/own-hooks.md": "# Own\n" });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  for (const name of ["pre-receive", "post-receive"])
    expect(readFileSync(join(folder, name), "utf8")).toMatch(
      new RegExp(`^[0-9a-f]{40} ${commit} refs/heads/main\n$`),
    );
  writeFileSync(join(folder, "refuse"), "");
  theirs.commit({ "notes/own-hooks.md": "# Changed\n" });
  expect((await theirs.run("push")).code).not.toBe(0);
  // Its lease ends with its process, so that writes go on.
  expect(await served.rpc.call("notes.create", { title: "Goes on", content: "x" })).toHaveProperty("commit");
  rmSync(hooks, { recursive: true });
});

test("a person may commit in a linked working tree beside the daemon", async () => {
  git(served.repo, "worktree", "add", "-q", "-b", "beside", join(folder, "beside"));
  writeFileSync(join(folder, "beside", "notes.md"), "x\n");
  git(join(folder, "beside"), "add", "notes.md");
  git(join(folder, "beside"), "commit", "-q", "-m", "beside");
  expect(git(served.repo, "log", "-1", "--format=%s", "beside")).toBe("beside");
});

test("attributes that a push brings convert no note, here where Git writes the files", async () => {
  const theirs = await clone("path");
  theirs.commit({ "notes/.gitattributes": "*.md text eol=crlf\n", "notes/lines.md": "one\n" });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  theirs.commit({ "notes/lines.md": "one\ntwo\n" });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  expect(readFileSync(join(served.repo, "notes/lines.md"), "utf8")).toBe("one\ntwo\n");
  expect(status()).toBe("");
});

test("after a push that another hook refused, what a person saves meanwhile stays as it is", async () => {
  const theirs = await clone("path");
  theirs.commit({ "notes/kept.md": "one\n", "notes/gone.md": "one\n" });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  const hook = join(served.repo, ".git/hooks/update");
  mkdirSync(join(hook, ".."), { recursive: true });
  // The person has the pushed text from elsewhere, byte for byte, while the push is still there.
  const saved = join(served.repo, "notes/kept.md");
  const gone = join(served.repo, "notes/gone.md");
  writeFileSync(hook, `#!/bin/sh\nprintf 'two\\n' > "${saved}"\nrm "${gone}"\nexit 1\n`);
  chmodSync(hook, 0o755);
  theirs.commit({ "notes/kept.md": "two\n", "notes/gone.md": null });
  expect((await theirs.run("push")).text).toMatch(/hook declined/);
  rmSync(hook);
  expect(await served.rpc.call("notes.create", { title: "After", content: "x" })).toHaveProperty("commit");
  expect(readFileSync(saved, "utf8")).toBe("two\n");
  expect(existsSync(gone)).toBe(false);
});
