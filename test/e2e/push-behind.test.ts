/** Pushes that are behind go to refs/for/<branch>, where the daemon merges them. */
import { readFileSync } from "node:fs";
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
const status = () => git(served.repo, "status", "--porcelain");

test("a push that is behind lands at the first try, as a merge by its pusher", async () => {
  const theirs = await clone("http");
  const commit = theirs.commit({ ["notes/behind.md"]: "# Behind\n" });
  const agents = await served.rpc.call("notes.create", { title: "Meanwhile", content: "x" });
  const { subscription_id } = await served.rpc.call("notes.subscribe");
  const pushed = await theirs.run("push", "origin", "HEAD:refs/for/main");
  expect(pushed).toMatchObject({ code: 0 });
  const merge = git(served.repo, "rev-parse", "HEAD");
  expect(pushed.text).toContain(`notesd merged it: ${merge}`);
  expect(git(served.repo, "log", "-1", "--format=%P")).toBe(`${agents.commit} ${commit}`);
  expect(git(served.repo, "log", "-1", "--format=%s")).toMatch(/^merge: a note pushed by /);
  expect(readFileSync(join(served.repo, "notes/behind.md"), "utf8")).toBe("# Behind\n");
  const told = await until("the event", () =>
    served.rpc.notifications.find(({ params }) => params["path"] === "notes/behind.md"),
  );
  expect(told.params).toMatchObject({ commit, via: "push", source: "git" });
  expect(git(served.repo, "for-each-ref", "refs/for")).toBe("");
  expect(await theirs.run("pull", "-q", "--ff-only")).toMatchObject({ code: 0 });
  expect(status()).toBe("");
  await served.rpc.call("notes.unsubscribe", { subscription_id });
});

test("what doesn't merge is kept and named; ours stays in the file, and no marker enters it", async () => {
  const made = await served.rpc.call("notes.create", { title: "Both", content: "one line" });
  const theirs = await clone("path");
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
