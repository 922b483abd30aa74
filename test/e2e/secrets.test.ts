/** A secret gets into no history: refused at the daemon's doors and in a person's push, and let in when it is none. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanEnv, git, notesd, openRpc, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { type Clone, cloneFrom, gitUrl } from "../support/pusher.ts";
import { secretSpecimens } from "../support/secret-specimens.ts";
import { until } from "../support/wait.ts";

const served = servedRepo();
const folder = tempFolder();
afterAll(() => removeFolder(folder));

let clones = 0;
const clone = (way: "http" | "path" = "http"): Promise<Clone> =>
  cloneFrom(
    way === "http" ? gitUrl(served.daemon, served.daemon.token) : served.repo,
    join(folder, `clone-${++clones}`),
  );
const token = () => secretSpecimens()[0]?.text ?? "";

/** Every object of the repository, inflated, and every file in and beside its Git directory. */
function everything(): string {
  const objects = execFileSync("git", ["-C", served.repo, "cat-file", "--batch-all-objects", "--batch"], {
    env: cleanEnv(),
    maxBuffer: 1 << 28,
    encoding: "latin1",
  });
  const files = readdirSync(served.repo, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), "latin1")}`);
  return [objects, ...files, served.daemon.log()].join("\n");
}

test("what is refused leaves no trace: no object, no file, no line of the log", async () => {
  const specimens = secretSpecimens();
  for (const { kind, text } of specimens) {
    const { error } = await served.rpc.reply("notes.create", { title: "Keys", content: `One.\n${text}\n` });
    expect(error).toMatchObject({ code: 451, data: { code: "SECRET_REFUSED", matches: [{ kind }] } });
  }
  const { note_id } = await served.rpc.call("notes.create", { title: "A", content: "x" });
  const secret = token();
  const named = await openRpc(served.daemon.url, served.daemon.token);
  await named.call("session.set", { session: secret, task: secret });
  expect((await named.reply("notes.append", { note_id, content: "y" })).error).toMatchObject({ code: 451 });
  named.close();
  for (const [method, params] of [
    ["notes.create", { title: secret, content: "x" }],
    ["notes.create", { title: "A", content: "x", folder: `notes/${secret}` }],
    ["notes.update", { note_id, content: "y", reason: secret, idempotency_key: "k" }],
    ["notes.update", { note_id, content: secret, on_conflict: "merge" }],
    ["notes.run", { action: "create", title: "A", content: secret }],
  ] as const)
    expect((await served.rpc.reply(method, params)).error).toMatchObject({ code: 451 });
  await served.rpc.call("notes.append", { note_id, content: "written after them" });
  await until("seen.json", () => existsSync(join(served.repo, ".git/notesd/seen.json")));
  const all = everything();
  expect(all).toContain("written after them");
  for (const { text } of [...specimens, { text: secret }]) {
    const longest = text.split(/\s+/).toSorted((a, b) => b.length - a.length)[0] ?? "";
    expect(all).not.toContain(longest);
  }
});

test.each(["http", "path"] as const)(
  "a push by %s is refused with file, line, kind, fingerprint and what to do",
  async (way) => {
    const theirs = await clone(way);
    const secret = token();
    theirs.commit({ "notes/keys.md": `# Keys\n\n${secret}\n` });
    const pushed = await theirs.run("push");
    expect(pushed.code).not.toBe(0);
    expect(pushed.text).toMatch(
      /notes\/keys\.md:3: holds what looks like a secret: github-token \(commit [0-9a-f]{9}, fingerprint [0-9a-f]{16}\)/,
    );
    expect(pushed.text).toMatch(/git commit --amend/);
    expect(pushed.text).not.toContain(secret);
    const fingerprint = /notesd allow ([0-9a-f]{16})/.exec(pushed.text)?.[1] ?? "";
    expect(everything()).not.toContain(secret);
    const allow = (...args: string[]) => notesd(["allow", "--repo", served.repo, ...args]);
    expect(allow("--list")).toMatch(new RegExp(`${fingerprint} +github-token .* push: notes/keys.md:3`));
    expect(allow(fingerprint)).toBe(`allowed: ${fingerprint} github-token\n`);
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    expect(JSON.parse(allow("--list", "--json")).allowed).toMatchObject([
      { fingerprint, note: "Pat <pat@example.com>" },
    ]);
    expect(allow(fingerprint, "--remove")).toBe(`refused from now on: ${fingerprint} github-token\n`);
    // What history has by now stands in nobody's way.
    theirs.commit({ "notes/keys.md": `# Keys of ${way}\n\n${secret}\nmore\n` });
    expect(await theirs.run("push")).toMatchObject({ code: 0 });
    theirs.commit({ "notes/other.md": secret });
    expect((await theirs.run("push")).text).toMatch(/notes\/other\.md:1: holds/);
  },
);

test.each([
  [
    "that a later commit takes out",
    { "notes/a.md": "SECRET\n" },
    { "notes/a.md": "none\n" },
    /notes\/a\.md:1: holds/,
  ],
  [
    "that comes back as it was",
    { "notes/a.md": "1\nSECRET\n" },
    { "notes/a.md": "2\nSECRET\n" },
    /notes\/a\.md:2: holds/,
  ],
  ["in a file that is no note", { "src/app.env": "A=1\nKEY=SECRET\n" }, {}, /src\/app\.env:2: holds/],
  ["in a file that goes again", { "x.txt": "SECRET" }, { "x.txt": null }, /x\.txt:1: holds/],
])("a push is refused for one %s", async (_, first, second, told) => {
  const theirs = await clone();
  const secret = token();
  const filled = (files: Record<string, string | null>) =>
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, text?.replace("SECRET", secret) ?? null]),
    );
  theirs.commit(filled(first));
  if (Object.keys(second).length > 0) theirs.commit(filled(second));
  const pushed = await theirs.run("push");
  expect(pushed.code).not.toBe(0);
  expect(pushed.text).toMatch(told);
  expect(pushed.text).not.toContain(secret);
  const merged = await theirs.run("push", "origin", "HEAD:refs/for/main");
  expect(merged.text).toMatch(told);
});

test("a message, an author, a tag and the name of a file are looked at, and told without it", async () => {
  const secret = token();
  for (const spoil of [
    (theirs: Clone) => theirs.commit({ "notes/m.md": "m" }, `with ${secret}`),
    (theirs: Clone) => {
      git(theirs.dir, "config", "user.name", secret);
      theirs.commit({ "notes/m.md": "m" });
    },
    (theirs: Clone) => theirs.commit({ [`notes/${secret}.md`]: "m" }),
    (theirs: Clone) => git(theirs.dir, "tag", "-a", "v1", "-m", secret),
  ]) {
    const theirs = await clone();
    spoil(theirs);
    const pushed = await theirs.run("push", "--follow-tags");
    expect(pushed.code).not.toBe(0);
    expect(pushed.text).toMatch(/looks like a secret: github-token/);
    expect(pushed.text).not.toContain(secret);
  }
  expect(everything()).not.toContain(secret);
});

test("a branch or a tag whose name is one is refused", async () => {
  const secret = token();
  const theirs = await clone();
  for (const ref of [`refs/heads/${secret}`, `refs/tags/x-${secret}`]) {
    const pushed = await theirs.run("push", "origin", `HEAD:${ref}`);
    expect(pushed.code).not.toBe(0);
    expect(pushed.text).toMatch(/the name of a branch or tag: holds what looks like a secret: github-token/);
  }
  expect(everything()).not.toContain(secret);
  expect(git(served.repo, "for-each-ref", "--format=%(refname)")).not.toContain(secret);
});

test("a merge that brings what is in history already, and a move of a note, are let through", async () => {
  const secret = token();
  const { error } = await served.rpc.reply("notes.create", { title: "Kept", content: secret });
  const fingerprint = /notesd allow ([0-9a-f]{16})/.exec(error?.message ?? "")?.[1] ?? "";
  notesd(["allow", "--repo", served.repo, fingerprint]);
  const theirs = await clone();
  theirs.commit({ "notes/own.md": `${secret}\n` });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  await served.rpc.call("notes.create", { title: "Kept", content: secret });
  notesd(["allow", "--repo", served.repo, fingerprint, "--remove"]);
  theirs.commit({ "notes/side.md": "side\n" });
  expect(await theirs.run("pull", "-q", "--no-rebase", "--no-edit")).toMatchObject({ code: 0 });
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
  git(theirs.dir, "mv", "notes/own.md", "notes/moved.md");
  theirs.commit({});
  expect(await theirs.run("push")).toMatchObject({ code: 0 });
});
