import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type GitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";

let bare: GitRepo;
const open: SyncedNotebook[] = [];
let seed = 1;
async function daemon(remote = bare.root): Promise<SyncedNotebook> {
  const on = await openSynced(remote, seed++);
  open.push(on);
  return on;
}
beforeEach(() => {
  bare = repoAt(temporaryFolder());
  bare.git("init", "-q", "--bare", "-b", "main", ".");
  // Bare: Git finds it in its own folder.
});
afterEach(async () => {
  for (const on of open.splice(0)) await on.dispose();
});

const theirs = () => bare.git("rev-parse", "main");
const BODY = "one\n\ntwo\n\nthree\n";

describe("a sync with a remote by path", () => {
  test("an empty remote gets everything, an empty repository takes everything over, and then both are level", async () => {
    const a = await daemon();
    const note = await a.create("First", BODY);
    expect(await a.run()).toMatchObject({
      state: "ok",
      pulled: 0,
      pushed: 1,
      ahead: 0,
      behind: 0,
      message: null,
    });
    expect(theirs()).toBe(await a.store.tip());
    const b = await daemon();
    expect(await b.run()).toMatchObject({ state: "ok", pulled: 1, pushed: 0 });
    expect(b.notebook.metadata(note.noteId)?.title).toBe("First");
    expect(await b.digest()).toBe(await a.digest());
    expect(b.repo.git("status", "--porcelain")).toBe("");
    expect(await b.run()).toMatchObject({ state: "ok", pulled: 0, pushed: 0 });
  });

  test("both wrote: one merge, pushed, and the other fast-forwards", async () => {
    const [a, b] = [await daemon(), await daemon()];
    const { noteId } = await a.create("Shared", BODY);
    await a.run();
    await b.run();
    await a.update(noteId, BODY.replace("one", "ONE"));
    await b.update(noteId, BODY.replace("three", "THREE"));
    await b.create("Of b", "text");
    expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
    expect(await b.run()).toMatchObject({ state: "ok", pulled: 1, pushed: 3 });
    expect(await a.run()).toMatchObject({ state: "ok", pulled: 3 });
    expect(await a.digest()).toBe(await b.digest());
    const { content } = await a.notebook.read(noteId, {
      principal: { kind: "person", name: "P", email: "p@x" },
      session: null,
      task: null,
    });
    expect(content).toContain("ONE\n\ntwo\n\nTHREE");
  });

  test("a remote that is away is told, and level again when it is back", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    await a.run();
    renameSync(bare.root, `${bare.root}-away`);
    await a.create("Two", BODY);
    const away = await a.run();
    expect(away).toMatchObject({ state: "away", pushed: 0 });
    expect(away.message).toMatch(/does not|not appear|No such/i);
    expect(await a.sync.status()).toMatchObject({ state: "away", ahead: 1 });
    renameSync(`${bare.root}-away`, bare.root);
    expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
  });

  test("a remote whose hook refuses says why, and nothing is tried by force", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    const hook = join(bare.root, "hooks/pre-receive");
    writeFileSync(hook, "#!/bin/sh\necho 'no pushes on mondays' >&2\nexit 1\n");
    chmodSync(hook, 0o755);
    const refused = await a.run();
    expect(refused).toMatchObject({ state: "refused", ahead: 1, pushed: 0 });
    expect(refused.message).toContain("no pushes on mondays");
    expect(bare.tryGit("rev-parse", "--verify", "main").status).not.toBe(0);
  });

  test("a branch that is missing there is made; other branches and tags stay where they are", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    a.repo.git("branch", "private");
    a.repo.git("tag", "mine");
    await a.run();
    expect(bare.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    bare.git("update-ref", "-d", "refs/heads/main");
    expect(await a.run()).toMatchObject({ state: "ok" });
    expect(theirs()).toBe(await a.store.tip());
  });

  test("marks of reviews travel, the one that goes further wins; conflicts and backups stay here", async () => {
    const [a, b] = [await daemon(), await daemon()];
    await a.create("One", BODY);
    const mark = "refs/notesd/review/abcdefghijklmnop";
    const first = (await a.store.tip()) ?? "";
    a.repo.git("update-ref", mark, first);
    a.repo.git("update-ref", "refs/notesd/backup/x", first);
    await a.run();
    await b.run();
    expect(b.repo.git("rev-parse", mark)).toBe(first);
    await b.create("Two", BODY);
    b.repo.git("update-ref", mark, (await b.store.tip()) ?? "");
    await b.run();
    await a.run();
    expect(a.repo.git("rev-parse", mark)).toBe(await b.store.tip());
    expect(bare.git("for-each-ref", "--format=%(refname)").split("\n")).toEqual(["refs/heads/main", mark]);
  });

  test("a remote that takes one person's mark alone still gets the notes and that mark, and it is told", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    const [hers, others] = ["a", "b"].map((letter) => `refs/notesd/review/${letter.repeat(16)}`);
    for (const mark of [hers, others]) a.repo.git("update-ref", mark ?? "", (await a.store.tip()) ?? "");
    const hook = join(bare.root, "hooks/pre-receive");
    writeFileSync(hook, `#!/bin/sh\nif grep -q ${others}; then echo "not yours" >&2; exit 1; fi\n`);
    chmodSync(hook, 0o755);
    const result = await a.run();
    expect(result).toMatchObject({ state: "ok", pushed: 1, ahead: 0 });
    expect(result.message).toMatch(/level.*does not take a mark of reviews.*not yours/s);
    expect(theirs()).toBe(await a.store.tip());
    expect(bare.git("for-each-ref", "--format=%(refname)", "refs/notesd")).toBe(hers);
  });

  test("refs there that are no marks of reviews are left, told, and stop nothing", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    await a.run();
    const fine = "refs/notesd/review/abcdefghijklmnop";
    bare.git("update-ref", fine, "main");
    bare.git("update-ref", "refs/notesd/review/abcdefghijklmnoq", bare.git("rev-parse", "main^{tree}"));
    bare.git("update-ref", "refs/notesd/review/x/y", "main");
    const result = await a.run();
    expect(result.state).toBe("ok");
    expect(result.message).toMatch(/no marks of reviews.*abcdefghijklmnoq.*x\/y/);
    expect(a.repo.git("for-each-ref", "--format=%(refname)", "refs/notesd/review")).toBe(fine);
    // Nor does one of ours.
    a.repo.git("update-ref", "refs/notesd/review/abcdefghijklmnor", a.repo.git("rev-parse", "HEAD^{tree}"));
    await a.create("Two", BODY);
    expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
  });

  test("a ref of ours that holds what is not here is told as broken, not thrown", async () => {
    const a = await daemon();
    await a.create("One", BODY);
    await a.run();
    const kept = a.repo.git("for-each-ref", "--format=%(refname)", "refs/notesd/remotes").split("\n");
    for (const name of kept) writeFileSync(join(a.repo.gitdir, name), `${"a".repeat(40)}\n`);
    expect(await a.sync.status()).toMatchObject({ ahead: 0, behind: 0 });
    expect(await a.run()).toMatchObject({ state: "broken" });
  });

  test("a hand edit that is not committed yet is committed first and merged", async () => {
    const [a, b] = [await daemon(), await daemon()];
    const { path, noteId } = await a.create("One", BODY);
    await a.run();
    await b.run();
    const text = b.repo.git("show", `HEAD:${path}`);
    await b.save(path, `${text.replace("two", "by hand")}\n`);
    await a.update(noteId, BODY.replace("three", "by the agent"));
    await a.run();
    expect(await b.run()).toMatchObject({ state: "ok" });
    expect(b.repo.git("show", `HEAD:${path}`)).toMatch(/by hand[\s\S]*by the agent/);
  });
});

describe("a history that was rewritten", () => {
  async function rewritten() {
    const [a, b] = [await daemon(), await daemon()];
    const { noteId } = await a.create("Kept", BODY);
    await a.run();
    await b.run();
    await a.create("Taken away", BODY);
    await a.run();
    await b.run();
    await b.create("Of b", BODY);
    bare.git("update-ref", "refs/heads/main", bare.git("rev-parse", "main~1"));
    return { a, b, noteId };
  }

  test("is told, nothing moves, and writes go on", async () => {
    const { b } = await rewritten();
    const tip = await b.store.tip();
    const result = await b.run();
    expect(result).toMatchObject({ state: "diverged", pulled: 0, pushed: 0, head: tip });
    expect(result.message).toMatch(/--accept-remote[\s\S]*--keep-local/);
    expect(await b.store.state()).toMatchObject({ state: "diverged" });
    await b.create("Meanwhile", BODY);
    expect(await b.run()).toMatchObject({ state: "diverged" });
    expect(b.repo.git("for-each-ref", "refs/notesd/backup")).not.toBe("");
  });

  test("with the remote that is set is the state, whatever is synced with besides", async () => {
    const { a, b } = await rewritten();
    const other = repoAt(temporaryFolder());
    other.git("init", "-q", "--bare", "-b", "main", ".");
    for (const { repo } of [a, b]) repo.git("remote", "add", "other", other.root);
    await b.run();
    expect(await b.run({ remote: "other" })).toMatchObject({ state: "ok" });
    expect(await b.store.state()).toMatchObject({ state: "diverged" });
    await b.run({ diverged: "keep_local" });
    expect(await b.store.state()).toEqual({ state: "ok" });
    other.git("update-ref", "refs/heads/main", other.git("rev-parse", "main~1"));
    expect(await b.run({ remote: "other" })).toMatchObject({ state: "diverged" });
    expect(await b.store.state()).toEqual({ state: "ok" });
  });

  test("--accept-remote takes it over, with files and index, and keeps the old head", async () => {
    const { b } = await rewritten();
    const old = await b.store.tip();
    await b.run();
    expect(await b.run({ diverged: "accept_remote" })).toMatchObject({ state: "ok", ahead: 0, behind: 0 });
    expect(await b.store.tip()).toBe(theirs());
    expect(b.repo.git("for-each-ref", "--format=%(objectname)", "refs/notesd/backup")).toContain(old);
    expect((await b.notebook.status()).notes).toBe(1);
    expect(b.repo.git("status", "--porcelain")).toBe("");
    expect(await b.store.state()).toEqual({ state: "ok" });
    await b.digest();
    await b.create("Goes on", BODY);
    expect(await b.run()).toMatchObject({ state: "ok", pushed: 1 });
  });

  test("--keep-local puts ours on top without force, and the others follow", async () => {
    const { a, b } = await rewritten();
    await b.run();
    expect(await b.run({ diverged: "keep_local" })).toMatchObject({ state: "ok" });
    expect(theirs()).toBe(await b.store.tip());
    expect((await b.notebook.status()).notes).toBe(3);
    expect(await a.run()).toMatchObject({ state: "ok" });
    expect(await a.digest()).toBe(await b.digest());
  });

  test("a remote that shares no history is the same, and joined when ours is to stand", async () => {
    const a = await daemon();
    await a.create("Of a", BODY);
    await a.run();
    const b = await daemon();
    await b.create("Of b", BODY);
    expect(await b.run()).toMatchObject({ state: "diverged" });
    expect(await b.run({ diverged: "keep_local" })).toMatchObject({ state: "ok" });
    expect((await b.notebook.status()).notes).toBe(1);
    expect(await a.run()).toMatchObject({ state: "ok" });
    expect(await a.digest()).toBe(await b.digest());
  });
});

test("without a remote it says what to set, and a helper that runs programs is no remote", async () => {
  const a = await daemon();
  a.repo.git("config", "--unset", "remote.origin.url");
  await expect(a.run()).rejects.toMatchObject({ code: "NOT_CONFIGURED" });
  await expect(a.run({ remote: "ext::sh -c touch% /tmp/x" })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
  await expect(a.run({ remote: "--upload-pack=touch" })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  a.repo.git("config", "remote.odd.url", "ext::sh -c touch% /tmp/x");
  await expect(a.run({ remote: "odd" })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
});

test("a place that nobody set up is no remote for a caller; a name of Git's config is", async () => {
  const a = await daemon();
  await a.create("One", BODY);
  for (const remote of [
    bare.root,
    `file://${bare.root}`,
    "git@host:notes",
    "https://git.example/n.git",
    "../x",
  ])
    for (const ask of [() => a.run({ remote }), () => a.sync.status(remote)])
      await expect(ask()).rejects.toMatchObject({
        code: "INVALID_PARAMS",
        message: expect.stringContaining("git remote add"),
      });
  expect(bare.tryGit("rev-parse", "--verify", "main").status).not.toBe(0);
  a.repo.git("remote", "add", "team/one", bare.root);
  expect(await a.run({ remote: "team/one" })).toMatchObject({ state: "ok", pushed: 1 });
});
