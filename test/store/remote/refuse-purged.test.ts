import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rememberPurged } from "../../../src/store/purge/purged-list.ts";
import type { ObjectKind } from "../../../src/store/purge/rewriting.ts";
import { type GitHttpServer, gitHttpServer } from "../../support/git-http-server.ts";
import { type GitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";

const LOGIN = { username: "pat", password: "s3cret" };
let bare: GitRepo;
let server: GitHttpServer;
const open: SyncedNotebook[] = [];
beforeEach(async () => {
  const top = temporaryFolder();
  mkdirSync(join(top, "notes.git"));
  bare = repoAt(join(top, "notes.git"));
  bare.git("init", "-q", "--bare", "-b", "main", ".");
  bare.git("config", "http.receivepack", "true");
  server = await gitHttpServer(top, LOGIN);
});
afterEach(async () => {
  for (const on of open.splice(0)) await on.dispose();
  await server.close();
});

async function daemon(over: "http" | "native"): Promise<SyncedNotebook> {
  const url = over === "http" ? server.url("notes.git") : bare.root;
  const on = await openSynced(url, open.length + 1, over === "http" ? { login: LOGIN } : {});
  open.push(on);
  return on;
}

/** A remote with two commits, and a repository in which one of their objects was purged. */
async function purged(over: "http" | "native", which: string, kind: ObjectKind) {
  const a = await daemon(over);
  await a.create("Leaked", "a secret\n");
  await a.create("Later", "text\n");
  expect((await a.run()).state).toBe("ok");
  const id = which === "blob" ? bare.git("rev-parse", `main:${notes()[0]}`) : bare.git("rev-parse", which);
  const b = await daemon(over);
  await b.create("Mine", "text\n");
  await rememberPurged(b.repo.gitdir, new Map([[id, kind]]));
  return { a, b, id };
}
const notes = () => bare.git("ls-tree", "-r", "--name-only", "main~1").split("\n");

for (const over of ["http", "native"] as const) {
  for (const [which, kind] of [
    ["main", "commit"],
    ["main~1", "commit"],
    ["blob", "blob"],
  ] as const) {
    test(`${over}: a remote that holds ${which}, which was purged here, is refused, and nothing of it stays`, async () => {
      const { b, id } = await purged(over, which, kind);
      const tip = await b.store.tip();
      const result = await b.run();
      expect(result).toMatchObject({ state: "broken", pulled: 0, pushed: 0 });
      expect(result.message).toContain(id);
      expect(result.message).toMatch(/purged here.*by hand/s);
      expect(await b.store.tip()).toBe(tip);
      expect(b.repo.tryGit("cat-file", "-e", id).status).not.toBe(0);
      expect(b.repo.git("for-each-ref", "refs/notesd")).toBe("");
      const left = readdirSync(join(b.repo.gitdir, "notesd")).filter((name) => name.startsWith("incoming-"));
      expect(left).toEqual([]);
      // When the remote has another history, sync goes on.
      bare.git("update-ref", "-d", "refs/heads/main");
      expect((await b.run()).state).toBe("ok");
      expect(bare.git("rev-parse", "main")).toBe(tip);
    });
  }

  test(`${over}: what a person's own fetch brought back is not joined either`, async () => {
    const { b, id } = await purged(over, "main~1", "commit");
    b.repo.git("fetch", "-q", bare.root, "main:refs/heads/brought");
    expect(b.repo.tryGit("cat-file", "-e", id).status).toBe(0);
    const tip = await b.store.tip();
    expect(await b.run()).toMatchObject({ state: "broken", message: expect.stringContaining(id) });
    expect(await b.store.tip()).toBe(tip);
  });

  test(`${over}: a mark of reviews at a purged commit is left there and told, and the branch is synced`, async () => {
    const { a, b, id } = await purged(over, "main~1", "commit");
    await a.run();
    const mark = `refs/notesd/review/${"a".repeat(16)}`;
    bare.git("update-ref", mark, id);
    bare.git("update-ref", "-d", "refs/heads/main");
    const result = await b.run();
    expect(result).toMatchObject({ state: "ok", message: expect.stringContaining(mark) });
    expect(b.repo.tryGit("cat-file", "-e", id).status).not.toBe(0);
  });
}
