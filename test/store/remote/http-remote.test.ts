import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FLUSH, pktText } from "../../../src/lib/pkt-line.ts";
import { GIT_ENV } from "../../support/git-env.ts";
import { type GitHttpServer, gitHttpServer } from "../../support/git-http-server.ts";
import { type GitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";

const LOGIN = { username: "pat", password: "s3cret:töken" };
const BODY = "one\n\ntwo\n\nthree\n";
let top: string;
let bare: GitRepo;
let server: GitHttpServer;
const open: SyncedNotebook[] = [];

async function daemon(
  url = server.url("notes.git"),
  login: typeof LOGIN | null = LOGIN,
): Promise<SyncedNotebook> {
  const on = await openSynced(url, open.length + 1, login === null ? {} : { login });
  open.push(on);
  return on;
}
beforeEach(async () => {
  top = temporaryFolder();
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
const theirs = () => bare.git("rev-parse", "main");

test("two repositories become level over HTTP, each with what the other wrote, and Git finds nothing amiss", async () => {
  const [a, b] = [await daemon(), await daemon()];
  const { noteId } = await a.create("Shared", BODY);
  expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
  expect(await b.run()).toMatchObject({ state: "ok", pulled: 1 });
  await a.update(noteId, BODY.replace("one", "ONE"));
  await b.update(noteId, BODY.replace("three", "THREE"));
  for (let i = 0; i < 20; i++) await b.create(`Note ${i}`, `${BODY}${i}\n`);
  expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
  expect(await b.run()).toMatchObject({ state: "ok", pulled: 1, pushed: 22 });
  expect(await a.run()).toMatchObject({ state: "ok", pulled: 22, pushed: 0 });
  expect(await a.digest()).toBe(await b.digest());
  expect(theirs()).toBe(await a.store.tip());
  expect(bare.tryGit("fsck", "--strict")).toMatchObject({ status: 0 });
  expect(a.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
  expect(readdirSync(join(a.repo.gitdir, "objects/pack")).filter((name) => name.endsWith(".keep"))).toEqual(
    [],
  );
  expect(readdirSync(join(a.repo.gitdir, "notesd")).filter((name) => name.startsWith("incoming"))).toEqual(
    [],
  );
});

test("a push sends what changed, not the repository", async () => {
  const a = await daemon();
  for (let i = 0; i < 50; i++) await a.create(`Note ${i}`, `${BODY}${i}\n`);
  await a.run();
  const before = bare.git("count-objects", "-v");
  expect(before).not.toBe("");
  const packs = () => readdirSync(join(bare.root, "objects/pack")).length;
  const loose = () => Number(/^count: (\d+)/m.exec(bare.git("count-objects", "-v"))?.[1]);
  const [packed, counted] = [packs(), loose()];
  await a.create("One more", BODY);
  await a.run();
  // A commit, a blob and the trees on the way.
  expect(loose() - counted).toBeLessThanOrEqual(8);
  expect(packs()).toBe(packed);
});

test("a login that is wrong or missing is told, without ever showing it", async () => {
  const wrong = await daemon(server.url("notes.git"), { username: "pat", password: "not-that-one" });
  await wrong.create("One", BODY);
  const denied = await wrong.run();
  expect(denied.state).toBe("denied");
  const none = await daemon(server.url("notes.git").replace("http://", "http://pat:0ld-secret@"), null);
  const shown = await none.run();
  expect(shown.state).toBe("denied");
  const told = JSON.stringify([denied, shown, wrong.warned, none.warned]);
  expect(told).not.toMatch(/not-that-one|0ld-secret|s3cret/);
});

test("a login from Git's credential helper is asked for, used, and forgotten when it is refused", async () => {
  const a = await daemon(server.url("notes.git"), null);
  const log = join(top, "helper.log");
  const helper = join(top, "helper");
  writeFileSync(
    helper,
    `#!/bin/sh\necho "$1" >>'${log}'\n[ "$1" = get ] && printf 'username=pat\\npassword=%s\\n' "$(cat '${top}/password')"\nexit 0\n`,
  );
  chmodSync(helper, 0o755);
  writeFileSync(join(top, "password"), "wrong");
  a.repo.git("config", "credential.helper", helper);
  await a.create("One", BODY);
  expect((await a.run()).state).toBe("denied");
  writeFileSync(join(top, "password"), LOGIN.password);
  expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
  expect(readFileSync(log, "utf8").split("\n")).toEqual(["get", "erase", "get", "store", ""]);
  expect(readFileSync(join(a.repo.gitdir, "config"), "utf8")).not.toContain(LOGIN.password);
});

test("a host that fails, is not there or is no Git host is told apart", async () => {
  const a = await daemon();
  await a.create("One", BODY);
  server.answerOnly(503);
  expect(await a.run()).toMatchObject({ state: "away" });
  server.answerOnly(403);
  expect(await a.run()).toMatchObject({ state: "denied" });
  server.answerOnly(200);
  expect(await a.run()).toMatchObject({ state: "broken" });
  server.answerOnly(null);
  expect(await a.run()).toMatchObject({ state: "ok" });
  await server.close();
  expect(await a.run()).toMatchObject({ state: "away" });
  server = await gitHttpServer(top, LOGIN);
});

test("a rule or a hook there that refuses is told in its own words", async () => {
  const a = await daemon();
  await a.create("One", BODY);
  writeFileSync(join(bare.root, "hooks/pre-receive"), "#!/bin/sh\necho 'no pushes on mondays' >&2\nexit 1\n");
  chmodSync(join(bare.root, "hooks/pre-receive"), 0o755);
  const refused = await a.run();
  expect(refused.state).toBe("refused");
  expect(refused.message).toMatch(/pre-receive hook declined[\s\S]*no pushes on mondays/);
});

test("a shallow remote is refused with what to do", async () => {
  const a = await daemon();
  for (const title of ["One", "Two", "Three"]) await a.create(title, BODY);
  await a.run();
  mkdirSync(join(top, "shallow.git"));
  bare.git("clone", "-q", "--bare", "--depth", "1", `file://${bare.root}`, join(top, "shallow.git"));
  const b = await daemon(server.url("shallow.git"));
  const result = await b.run();
  expect(result.state).toBe("broken");
  expect(result.message).toMatch(/shallow/);
  expect(await b.store.tip()).toBeNull();
});

test("a remote that lost an object fails in the middle of its answer, and the branch does not move", async () => {
  const a = await daemon();
  const { path } = await a.create("One", BODY);
  await a.run();
  const blob = bare.git("rev-parse", `main:${path}`);
  rmSync(join(bare.root, "objects", blob.slice(0, 2), blob.slice(2)), { force: true });
  const other = await daemon();
  expect((await other.run()).state).toBe("broken");
  expect(await other.store.tip()).toBeNull();
});

test("a history that is here with a hole is asked for again, and the branch moves only when it is whole", async () => {
  const a = await daemon();
  const { path } = await a.create("One", BODY);
  await a.run();
  const other = await daemon();
  const blob = bare.git("rev-parse", `main:${path}`);
  const file = (repo: GitRepo, id: string) =>
    join(repo.root === bare.root ? bare.root : repo.gitdir, "objects", id.slice(0, 2), id.slice(2));
  // As a pack with a hole leaves it, or a kill before it was looked at.
  for (const id of bare.git("rev-list", "--objects", "--no-object-names", "main").split("\n")) {
    if (id === blob) continue;
    mkdirSync(join(file(other.repo, id), ".."), { recursive: true });
    copyFileSync(file(bare, id), file(other.repo, id));
  }
  renameSync(file(bare, blob), join(top, "blob"));
  expect((await other.run()).state).toBe("broken");
  expect(await other.store.tip()).toBeNull();
  renameSync(join(top, "blob"), file(bare, blob));
  expect(await other.run()).toMatchObject({ state: "ok", pulled: 1 });
  expect(other.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
});

test("refs there that are no marks of reviews are left, told, and stop nothing", async () => {
  const a = await daemon();
  await a.create("One", BODY);
  await a.run();
  const blob = bare.git("rev-parse", "main^{tree}");
  const [fine, odd] = ["refs/notesd/review/abcdefghijklmnop", "refs/notesd/review/abcdefghijklmnoq"];
  bare.git("update-ref", fine, "main");
  bare.git("update-ref", odd, blob);
  bare.git("update-ref", "refs/notesd/review/x/y", "main");
  const result = await a.run();
  expect(result.state).toBe("ok");
  expect(result.message).toContain(odd);
  expect(result.message).toContain("refs/notesd/review/x/y");
  expect(a.repo.git("for-each-ref", "--format=%(refname)", "refs/notesd/review")).toBe(fine);
});

/** A host of one page after the other, and what it was asked with. */
async function host(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const on = createServer(answer);
  await new Promise<void>((resolve) => on.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has such an address.
  const { port } = on.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      on.closeAllConnections();
      on.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Answers as a Git host does, with this pack whatever is asked for. */
const sends = (pack: Buffer) => (request: IncomingMessage, response: ServerResponse) => {
  const isFirst = request.url?.includes("/info/refs") === true;
  const kind = isFirst ? "advertisement" : "result";
  response.setHeader("content-type", `application/x-git-upload-pack-${kind}`);
  if (isFirst) {
    const refs = bare.tryGit("upload-pack", "--http-backend-info-refs", ".").stdout;
    return void response.end(`${pktText("# service=git-upload-pack\n")}${FLUSH}${refs}`);
  }
  request.resume();
  response.write(pktText("NAK\n"));
  for (let at = 0; at < pack.length; at += 1000) {
    const part = pack.subarray(at, at + 1000);
    response.write((part.length + 5).toString(16).padStart(4, "0"));
    response.write(Buffer.concat([Buffer.from([1]), part]));
  }
  response.end(FLUSH);
};
const left = (on: SyncedNotebook) => [
  ...readdirSync(join(on.repo.gitdir, "objects/pack")).filter((name) => !name.endsWith(".rev")),
  ...readdirSync(join(on.repo.gitdir, "notesd")).filter((name) => name.startsWith("incoming")),
];

test("a pack with a hole is refused, however often it comes, and nothing of it stays", async () => {
  const a = await daemon();
  const { path } = await a.create("One", BODY);
  await a.run();
  const blob = bare.git("rev-parse", `main:${path}`);
  const ids = bare.git("rev-list", "--objects", "--no-object-names", "main").split("\n");
  const pack = execFileSync("git", ["pack-objects", "--stdout", "-q"], {
    ...{ cwd: bare.root, env: GIT_ENV },
    input: `${ids.filter((id) => id !== blob).join("\n")}\n`,
  });
  const holey = await host(sends(pack));
  const b = await daemon(`${holey.url}/notes.git`);
  const before = left(b);
  for (const _ of [1, 2]) {
    expect(await b.run()).toMatchObject({ state: "broken", message: expect.stringContaining(blob) });
    expect(await b.store.tip()).toBeNull();
    expect(left(b)).toEqual(before);
  }
  expect(b.repo.tryGit("fsck", "--strict")).toMatchObject({ status: 0 });
  await holey.close();
  const cut = await host(sends(pack.subarray(0, 100)));
  b.repo.git("config", "remote.origin.url", `${cut.url}/notes.git`);
  expect(await b.run()).toMatchObject({ state: "broken" });
  expect(left(b)).toEqual(before);
  await cut.close();
});

test("a redirect on the same host is followed, with the login; to another host nothing goes", async () => {
  const seen: (string | undefined)[] = [];
  const other = await host((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  const moved = await host((request, response) => {
    if (request.headers.authorization === undefined) return void response.writeHead(401).end();
    response.writeHead(302, { location: `${other.url}${request.url}` }).end();
  });
  const a = await daemon(`${moved.url}/notes.git`);
  await a.create("One", BODY);
  expect(await a.run()).toMatchObject({
    state: "broken",
    message: expect.stringContaining(`moved to ${other.url}`),
  });
  expect(seen).toEqual([]);
  await moved.close();
  await other.close();
  a.repo.git("config", "remote.origin.url", server.url("old.git"));
  server.movedTo("/old.git", "/notes.git");
  expect(await a.run()).toMatchObject({ state: "ok", pushed: 1 });
});
