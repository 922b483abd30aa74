/** Pushes that are behind go to refs/for/<branch>, where the daemon merges them; and what a repository's own hooks see. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { git, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { type Clone, cloneFrom, gitUrl } from "../support/pusher.ts";
import { until } from "../support/wait.ts";

const served = servedRepo();
const folder = tempFolder();
afterAll(() => removeFolder(folder));

let clones = 0;
const clone = (way: "http" | "path"): Promise<Clone> =>
  cloneFrom(
    way === "http" ? gitUrl(served.daemon, served.daemon.token) : served.repo,
    join(folder, `clone-${++clones}`),
  );
const WAYS = ["http", "path"] as const;
const status = () => git(served.repo, "status", "--porcelain");

test.each(WAYS)(
  "a push by %s that is behind lands at the first try, as a merge by its pusher",
  async (way) => {
    const theirs = await clone(way);
    const commit = theirs.commit({ [`notes/behind-${way}.md`]: "# Behind\n" });
    const agents = await served.rpc.call("notes.create", { title: `Meanwhile ${way}`, content: "x" });
    const { subscription_id } = await served.rpc.call("notes.subscribe");
    const pushed = await theirs.run("push", "origin", "HEAD:refs/for/main");
    expect(pushed).toMatchObject({ code: 0 });
    const merge = git(served.repo, "rev-parse", "HEAD");
    expect(pushed.text).toContain(`notesd merged it: ${merge}`);
    expect(git(served.repo, "log", "-1", "--format=%P")).toBe(`${agents.commit} ${commit}`);
    expect(git(served.repo, "log", "-1", "--format=%s")).toMatch(/^merge: a note pushed by /);
    expect(readFileSync(join(served.repo, `notes/behind-${way}.md`), "utf8")).toBe("# Behind\n");
    const told = await until("the event", () =>
      served.rpc.notifications.find(({ params }) => params["path"] === `notes/behind-${way}.md`),
    );
    expect(told.params).toMatchObject({ commit, via: "push", source: "git" });
    expect(git(served.repo, "for-each-ref", "refs/for")).toBe("");
    expect(await theirs.run("pull", "-q", "--ff-only")).toMatchObject({ code: 0 });
    expect(status()).toBe("");
    await served.rpc.call("notes.unsubscribe", { subscription_id });
  },
);

test("what doesn't merge is kept and named; ours stays in the file, and no marker enters it", async () => {
  const made = await served.rpc.call("notes.create", { title: "Both", content: "one line" });
  const theirs = await clone("http");
  const text = readFileSync(join(theirs.dir, made.path), "utf8");
  theirs.commit({ [made.path]: text.replace("one line", "the person's line") });
  await served.rpc.call("notes.update", { note_id: made.note_id, content: "the agent's line" });
  const pushed = await theirs.run("push", "origin", "HEAD:refs/for/main");
  expect(pushed).toMatchObject({ code: 0 });
  expect(pushed.text).toMatch(new RegExp(`does not merge[\\s\\S]*${made.path} {2}\\(${made.note_id}\\)`));
  const file = readFileSync(join(served.repo, made.path), "utf8");
  expect(file).toContain("the agent's line");
  expect(file).not.toContain("<<<<");
  const { conflicts } = await served.rpc.call("notes.conflicts", { note_id: made.note_id });
  expect(conflicts).toHaveLength(1);
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
});

test("a person may commit in a linked working tree beside the daemon", async () => {
  git(served.repo, "worktree", "add", "-q", "-b", "beside", join(folder, "beside"));
  writeFileSync(join(folder, "beside", "notes.md"), "x\n");
  git(join(folder, "beside"), "add", "notes.md");
  git(join(folder, "beside"), "commit", "-q", "-m", "beside");
  expect(git(served.repo, "log", "-1", "--format=%s", "beside")).toBe("beside");
});
