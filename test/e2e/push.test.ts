/** A person clones the running daemon with stock Git, edits, and pushes, over HTTP and by path. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { git, notesd, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { type Clone, cloneFrom, gitUrl } from "../support/pusher.ts";
import { until } from "../support/wait.ts";

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

test.each(WAYS)(
  "a push by %s is an event with its author's commit, before git push has ended",
  async (way) => {
    const theirs = await clone(way);
    const { subscription_id } = await served.rpc.call("notes.subscribe");
    const commit = theirs.commit({ [`notes/pushed-${way}.md`]: note(`Pushed by ${way}`, "From a clone.") });
    const pushed = await theirs.run("push");
    expect(pushed).toMatchObject({ code: 0 });
    const [found] = (await served.rpc.call("notes.search", { query: `Pushed by ${way}` })).results;
    expect(found).toMatchObject({ title: `Pushed by ${way}`, type: "blocker", trust: "pushed" });
    const told = await until("the subscriber's event", () =>
      served.rpc.notifications.find(({ params }) => params["commit"] === commit),
    );
    expect(told.params).toMatchObject({ action: "create", source: "git", trust: "pushed", via: "push" });
    expect(git(served.repo, "log", "-1", "--format=%an <%ae>", commit)).toBe("Quinn <quinn@example.com>");
    expect(readFileSync(join(served.repo, `notes/pushed-${way}.md`), "utf8")).toContain("From a clone.");
    expect(status()).toBe("");
    await served.rpc.call("notes.unsubscribe", { subscription_id });
  },
);

test("a partial clone, a fetch and an agent's clone work; an agent's push is refused in words", async () => {
  const written = await served.rpc.call("notes.create", { title: "By an agent", content: "fetch me" });
  const partial = await clone("http", "--filter=blob:none");
  expect(readFileSync(join(partial.dir, written.path), "utf8")).toContain("fetch me");
  expect(git(partial.dir, "config", "remote.origin.partialclonefilter")).toBe("blob:none");
  const { token } = await served.rpc.call("agent.token", { name: "planner" });
  const agents = await cloneFrom(gitUrl(served.daemon, token), join(folder, "agents"));
  expect(await agents.run("fetch")).toMatchObject({ code: 0 });
  agents.commit({ "notes/agent.md": note("No") });
  const refused = await agents.run("push");
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/403/);
});

test("without a token, or with a wrong one, Git is asked for a password and let no further", async () => {
  for (const [path, token] of [
    ["info/refs?service=git-upload-pack", null],
    ["info/refs?service=git-receive-pack", "wrong"],
    ["git-receive-pack", null],
  ] as const) {
    const answer = await fetch(`${served.daemon.http}/notes.git/${path}`, {
      method: path.startsWith("info") ? "GET" : "POST",
      headers: token === null ? {} : { authorization: `Basic ${btoa(`x:${token}`)}` },
    });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="notesd"']);
  }
  const foreign = await fetch(`${served.daemon.http}/notes.git/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Basic ${btoa(`x:${served.daemon.token}`)}`, origin: "https://evil.example" },
  });
  expect(foreign.status).toBe(403);
  const head = await fetch(`${served.daemon.http}/notes.git/HEAD`, {
    headers: { authorization: `Bearer ${served.daemon.token}` },
  });
  expect(head.status).toBe(404);
});

/** What one bad push holds, and what its pusher must read of each. */
const BAD: readonly (readonly [RegExp, Record<string, string | Buffer>])[] = [
  [
    /notes\/bad\.md:4: can't be read as a note: not YAML[\s\S]*Correct it, commit/,
    { "notes/bad.md": "---\ntitle: ok\ntags: [a, b\n---\nbody\n" },
  ],
  [
    /notes\/latin1\.md:2: can't be read as a note: the file is not UTF-8/,
    { "notes/latin1.md": Buffer.from("---\ntitle: caf\xe9\n---\n", "latin1") },
  ],
  [
    /notes\/large\.md: has 300008 bytes[\s\S]*Split the note/,
    { "notes/large.md": `# Large\n${"word ".repeat(60_000)}` },
  ],
  [/attachment\.bin: has 34603008 bytes[\s\S]*Keep it outside/, { "attachment.bin": Buffer.alloc(33 << 20) }],
  [
    /notes\/x2\.md: has the id twin-1, which notes\/x1\.md has[\s\S]*Give one of them/,
    { "notes/x1.md": "---\nid: twin-1\n---\na\n", "notes/x2.md": "---\nid: twin-1\n---\nb\n" },
  ],
];

/** Add what no file system would hold to the clone's last commit. */
function addOddEntries(theirs: Clone): void {
  writeFileSync(join(theirs.dir, ".git/blob"), "/etc/passwd");
  const blob = git(theirs.dir, "hash-object", "-w", ".git/blob");
  const commit = git(theirs.dir, "rev-parse", "HEAD");
  const tree = (entries: string) => {
    writeFileSync(join(theirs.dir, ".git/entries"), entries);
    return git(theirs.dir, "-c", "alias.mk=!git mktree --missing < .git/entries", "mk");
  };
  const odd = tree(`120000 blob ${blob}\tlink\n160000 commit ${commit}\tsub\n`);
  const own = tree(`100644 blob ${blob}\tconfig\n`);
  const folders = ["odd", ".GIT", "git~1"].map(
    (name) => `040000 tree ${name === "odd" ? odd : own}\t${name}`,
  );
  const whole = tree(`${git(theirs.dir, "ls-tree", "HEAD")}\n${folders.join("\n")}\n`);
  git(theirs.dir, "update-ref", "HEAD", git(theirs.dir, "commit-tree", "-p", "HEAD", "-m", "odd", whole));
}
const ODD = [
  /odd\/link: is a symbolic link/,
  /odd\/sub: is a submodule/,
  /\.GIT\/config: holds "\.GIT", which Git takes for its own/,
  /git~1\/config: holds "git~1"[\s\S]*Take it out of every commit/,
];

test.each(WAYS)("whatever is wrong with a push by %s is refused with file, line and remedy", async (way) => {
  const theirs = await clone(way);
  const before = git(served.repo, "rev-parse", "HEAD");
  theirs.commit(Object.assign({}, ...BAD.map(([, files]) => files)));
  addOddEntries(theirs);
  const refused = await theirs.run("push");
  expect(refused.code).not.toBe(0);
  const text = refused.text.replace(/^remote: ?/gm, "");
  for (const says of [...BAD.map(([one]) => one), ...ODD]) expect(text).toMatch(says);
  expect(git(served.repo, "rev-parse", "HEAD")).toBe(before);
  expect(status()).toBe("");
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
  expect(status()).toBe("");
});

test.each(WAYS)(
  "an edit that lies in the working tree is adopted first, so the push by %s is behind",
  async (way) => {
    const theirs = await clone(way);
    writeFileSync(join(served.repo, `notes/hand-${way}.md`), "# By hand\n");
    theirs.commit({ [`notes/late-${way}.md`]: note("Late") });
    const first = await until("the edit to be seen and the push refused", async () => {
      const end = await theirs.run("push", "--dry-run");
      if (end.code !== 0) throw new Error(end.text);
      const unsettled = (await served.rpc.call("daemon.status")).unsettled;
      return unsettled.includes(`notes/hand-${way}.md`) || null;
    }).then(() => theirs.run("push"));
    expect(first.code).not.toBe(0);
    expect(first.text).toMatch(/has newer commits by now[\s\S]*git pull --rebase/);
    expect(await theirs.run("pull", "-q", "--rebase")).toMatchObject({ code: 0 });
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    expect(readFileSync(join(theirs.dir, `notes/hand-${way}.md`), "utf8")).toBe("# By hand\n");
    expect(status()).toBe("");
  },
);

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
