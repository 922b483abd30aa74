/** A person saves a secret in a note while the daemon runs: what everybody sees of it, and what Git never does. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  git,
  initRepo,
  notesd,
  openRpc,
  type Rpc,
  type RunningDaemon,
  removeFolder,
  startDaemon,
  tempFolder,
} from "../support/daemon.ts";
import { cloneFrom, gitUrl, runGit } from "../support/pusher.ts";
import { placesOf } from "../support/search-repository.ts";
import { tokenOf } from "../support/secrets.ts";
import { until } from "../support/wait.ts";

const S = tokenOf("held");
let repo: string;
let daemon: RunningDaemon;
let rpc: Rpc;
const folder = tempFolder();

async function start(): Promise<void> {
  daemon = await startDaemon(repo);
  rpc = await openRpc(daemon.url, daemon.token);
}
beforeAll(async () => {
  repo = initRepo();
  notesd(["config", "set", "reconcile.quiet_ms", "300", "--repo", repo]);
  await start();
});
afterEach(() => {
  expect(placesOf({ root: repo, gitdir: join(repo, ".git") }, S)).toEqual([]);
  expect(daemon.log()).not.toContain(S);
});
afterAll(async () => {
  rpc.close();
  await daemon.stop();
  removeFolder(join(repo, ".."));
  removeFolder(folder);
});

const file = (path: string) => join(repo, path);
const held = async (): Promise<{ path: string; matches: { fingerprint: string }[]; since: string }[]> =>
  (await rpc.call("daemon.status")).held;
const isHeld = (path: string) =>
  until("the edit to be held", async () => (await held()).find((edit) => edit.path === path));
const run = (...args: string[]) => {
  try {
    return { code: 0, text: notesd([...args, "--repo", repo]) };
  } catch (error) {
    // What execFileSync throws.
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { code: status, text: `${stdout}${stderr}` };
  }
};

/** A note that an agent made and a person gave a secret. */
async function heldNote(title: string): Promise<{ note_id: string; path: string; fingerprint: string }> {
  const { note_id, path } = await rpc.call("notes.create", { title, content: "one\n\ntwo\n\nthree" });
  writeFileSync(file(path), readFileSync(file(path), "utf8").replace("three", `three ${S}`));
  const { matches } = await isHeld(path);
  return { note_id, path, fingerprint: matches[0]?.fingerprint ?? "" };
}
const takeOut = (path: string, by = "") =>
  writeFileSync(file(path), readFileSync(file(path), "utf8").replace(` ${S}`, by));
const isLevel = () =>
  until("files and branch to be level", () => git(repo, "status", "--porcelain") === "" || null);

test("everybody is told, by whatever they ask, and the note takes no write until the value is gone", async () => {
  const { note_id, path, fingerprint } = await heldNote("Told");
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
  for (const [method, params] of [
    ["notes.update", { note_id, content: "x" }],
    ["notes.append", { note_id, content: "x" }],
    ["notes.edit", { note_id, old_str: "one", new_str: "1" }],
    ["notes.delete", { note_id }],
  ] as const)
    expect((await rpc.reply(method, params)).error).toMatchObject({
      code: 409,
      data: { code: "CONFLICT", reason: "held_edit", matches: [{ kind: "github-token", fingerprint }] },
    });
  expect(await rpc.call("notes.read", { note_id })).toMatchObject({
    content: "one\n\ntwo\n\nthree",
    dirty: true,
  });
  expect((await rpc.call("notes.search", { query: S })).total).toBe(0);
  const line =
    readFileSync(file(path), "utf8")
      .split("\n")
      .findIndex((text) => text.includes(S)) + 1;
  expect(run("commit")).toEqual({
    code: 5,
    text: expect.stringContaining(
      `${path}:${line}: github-token; if it is no secret: notesd allow ${fingerprint}`,
    ),
  });
  expect(JSON.parse(run("commit", "--json").text)).toMatchObject({
    commits: [],
    held: [{ path, why: "secret" }],
  });
  expect(run("status").text).toContain(fingerprint);
  expect(run("doctor").text).toMatch(
    new RegExp(`${path} is not committed.*line ${line} \\(fingerprint ${fingerprint}`),
  );
  const logged = daemon
    .log()
    .split("\n")
    .filter((text) => text.includes("a hand edit holds a secret"));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(fingerprint);
  takeOut(path);
  await until(
    "the note to take writes",
    async () => (await rpc.reply("notes.append", { note_id, content: "four" })).result,
  );
  await isLevel();
  expect(await held()).toEqual([]);
});

test("it survives kill -9 and a stop, with the time of its first save", async () => {
  const { path } = await heldNote("Restarted");
  const [before] = await held();
  // What a kill within these milliseconds takes is found anew, since then.
  const books = join(repo, ".git/notesd/held");
  await until("it to be written down", () => existsSync(books) && readFileSync(books, "utf8").includes(path));
  rpc.close();
  await daemon.kill();
  await start();
  await isHeld(path);
  expect(await held()).toEqual([before]);
  rpc.close();
  expect(await daemon.stop()).toBe(0);
  expect(daemon.log()).toContain("hand edits that hold a secret stay uncommitted");
  await start();
  expect(await isHeld(path)).toEqual(before);
  takeOut(path);
  await isLevel();
});

test("a push is refused and told why; one that the daemon merges goes past it, also into that very note", async () => {
  const { note_id, path } = await heldNote("Pushed");
  const theirs = await cloneFrom(gitUrl(daemon, daemon.token), join(folder, "theirs"));
  const text = readFileSync(join(theirs.dir, path), "utf8");
  theirs.commit({ [path]: text.replace("one", "ONE"), "notes/new.md": "# New\n" });
  const pushed = await theirs.run("push");
  expect(pushed.code).not.toBe(0);
  expect(pushed.text).toMatch(
    new RegExp(`${path}: was edited there and is not committed, for it holds a secret`),
  );
  expect(pushed.text).toContain("HEAD:refs/for/main");
  expect(await theirs.run("push", "origin", "HEAD:refs/for/main")).toMatchObject({ code: 0 });
  expect(readFileSync(file("notes/new.md"), "utf8")).toBe("# New\n");
  expect(readFileSync(file(path), "utf8")).toContain(S);
  expect(await rpc.call("notes.read", { note_id })).toMatchObject({
    content: "ONE\n\ntwo\n\nthree",
    dirty: true,
  });

  // The person's own commit would take back what came in.
  takeOut(path, " by hand");
  const committed = await runGit(repo, ["commit", "-qam", "by hand"]);
  expect(committed.code).not.toBe(0);
  expect(committed.text).toContain(path);
  await until("both to be merged", async () =>
    (await rpc.call("notes.read", { note_id })).content === "ONE\n\ntwo\n\nthree by hand" ? true : null,
  );
  await isLevel();
});

test("a person's own commit of it is refused by the hook; what they stage is theirs", async () => {
  const { path } = await heldNote("Committed");
  writeFileSync(file("notes/other.md"), "# Other\n");
  const committed = await runGit(repo, ["commit", "-qm", "all", "--", path]);
  expect(committed.code).not.toBe(0);
  expect(committed.text).toMatch(/github-token \(fingerprint [0-9a-f]{16}\)/);
  takeOut(path);
  await isLevel();
  // `git commit` wrote the blob before it asked the hook: that object is the person's Git's, and of nobody else's making.
  await runGit(repo, ["reflog", "expire", "--expire=now", "--all"]);
  await runGit(repo, ["prune", "--expire=now"]);
});

test("why a person commits goes into history too, so a secret in it is refused", async () => {
  writeFileSync(file("notes/why.md"), "# Why\n");
  const refused = run("commit", "-m", `for ${S}`);
  expect([refused.code, refused.text]).toEqual([6, expect.stringMatching(/github-token in the reason/)]);
  expect(run("commit", "-m", "for the team")).toMatchObject({ code: 0 });
});

test("what a person lets pass is committed at once", async () => {
  const value = tokenOf("let pass");
  writeFileSync(file("notes/allowed.md"), `# Allowed\n\n${value}\n`);
  const { matches } = await isHeld("notes/allowed.md");
  expect(run("allow", matches[0]?.fingerprint ?? "")).toMatchObject({ code: 0 });
  expect(git(repo, "show", "main:notes/allowed.md")).toContain(value);
  expect(await held()).toEqual([]);
});
