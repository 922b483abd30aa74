/** A person clones the running daemon with stock Git, edits, and pushes, over HTTP and by path. What takes long is `push.slow.test.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { markName } from "../../src/domain/identity.ts";
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

test("an agent may clone; its push is refused in words", async () => {
  const { token } = await served.rpc.call("agent.token", { name: "planner" });
  const agents = await cloneFrom(gitUrl(served.daemon, token), join(folder, "agents"));
  agents.commit({ "notes/agent.md": note("No") });
  const refused = await agents.run("push");
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/403/);
  const lines = served.daemon.log().split("\n");
  expect(lines.filter((line) => line.includes('"git push"'))).toContainEqual(
    expect.stringContaining('"principal":"agent:planner","action":"git push","code":"FORBIDDEN"'),
  );
});

test("a person pushes their own mark of reviews, and nobody else's", async () => {
  const added = JSON.parse(
    notesd(["person", "add", "Kim", "--email", "kim@example.org", "--json", "--repo", served.repo]),
  );
  const hers = await cloneFrom(gitUrl(served.daemon, added.token), join(folder, "marks"));
  const [own, others] = ["kim@example.org", "pat@example.com"].map(
    (email) => `refs/notesd/review/${markName(email)}`,
  );
  expect(await hers.run("push", "origin", `HEAD:${own}`)).toMatchObject({ code: 0 });
  const refused = await hers.run("push", "origin", `HEAD:${others}`);
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/another person's mark of reviews[\s\S]*as kim@example\.org/);
  expect(git(served.repo, "for-each-ref", "--format=%(refname)", "refs/notesd/review")).toBe(own);
});

test("a body that Git can't read is a 400 in words, and one that asks for nothing is answered", async () => {
  const post = async (service: string, body: Uint8Array | string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${served.daemon.http}/notes.git/git-${service}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${served.daemon.token}`,
        "content-type": `application/x-git-${service}-request`,
        ...headers,
      },
      body,
    });
    return [answer.status, await answer.text()];
  };
  const refused = [400, expect.stringMatching(/could not read this request/)];
  expect(await post("receive-pack", "garbage")).toEqual(refused);
  expect(await post("upload-pack", "no gzip at all", { "content-encoding": "gzip" })).toEqual(refused);
  // What Git itself sends before a large push.
  expect(await post("receive-pack", "0000")).toEqual([200, ""]);
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

test("whatever is wrong with a push is refused with file, line and remedy", async () => {
  const theirs = await clone("http");
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

test("an edit that lies in the working tree is adopted first, so the push is behind", async () => {
  const theirs = await clone("path");
  writeFileSync(join(served.repo, "notes/hand.md"), "# By hand\n");
  theirs.commit({ ["notes/late.md"]: note("Late") });
  const first = await until("the edit to be seen and the push refused", async () => {
    const end = await theirs.run("push", "--dry-run");
    if (end.code !== 0) throw new Error(end.text);
    const unsettled = (await served.rpc.call("daemon.status")).unsettled;
    return unsettled.includes("notes/hand.md") || null;
  }).then(() => theirs.run("push"));
  expect(first.code).not.toBe(0);
  expect(first.text).toMatch(/has newer commits by now[\s\S]*git pull --rebase/);
  expect(await theirs.run("pull", "-q", "--rebase")).toMatchObject({ code: 0 });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  expect(readFileSync(join(theirs.dir, "notes/hand.md"), "utf8")).toBe("# By hand\n");
  expect(status()).toBe("");
});

test("a note that is moved in a clone keeps its id, edited on the way or not; a copy of it is refused", async () => {
  const { note_id, path } = await served.rpc.call("notes.create", { title: "Moves", content: "one\n" });
  const theirs = await clone("http");
  git(theirs.dir, "mv", path, "notes/moved.md");
  theirs.commit({});
  expect((await theirs.run("push")).text).not.toMatch(/refused/);
  expect((await served.rpc.call("notes.read", { note_id })).metadata).toMatchObject({
    path: "notes/moved.md",
  });
  const text = readFileSync(join(theirs.dir, "notes/moved.md"), "utf8");
  theirs.commit({ "notes/moved.md": null, "notes/again.md": `${text}two\n` });
  expect((await theirs.run("push")).text).not.toMatch(/refused/);
  expect((await served.rpc.call("notes.read", { note_id })).content).toBe("one\n\ntwo");
  theirs.commit({ "notes/copy.md": text });
  expect((await theirs.run("push")).text).toMatch(
    /notes\/copy\.md: has the id note_\w+, which notes\/again\.md has/,
  );
});
