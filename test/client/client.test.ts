import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect } from "../../src/client/client.ts";
import type { LinkState } from "../../src/client/link.ts";
import { type Answer, type FakeDaemon, fakeDaemon, type Sent } from "../support/fake-daemon.ts";
import { until as waitFor } from "../support/wait.ts";

const NONCE = "ab".repeat(32);
let top: string;
let repo: string;
let daemon: FakeDaemon;
let client: Client | null = null;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-client-")));
  repo = join(top, "repo");
  await mkdir(join(repo, ".git/notesd"), { recursive: true });
  await writeFile(join(repo, ".git/HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(repo, ".git/config"), "[notesd]\n\tmarked = true\n");
  await writeFile(join(repo, ".git/notesd/token"), "persons-token\n");
});
afterEach(async () => {
  client?.close();
  client = null;
  await daemon?.close();
  await rm(top, { recursive: true, force: true });
});

async function serve(answer: (sent: Sent) => Answer | Promise<Answer>, nonce: string | null = NONCE) {
  daemon = await fakeDaemon(nonce, (sent) =>
    sent.method === "agent.token"
      ? { result: { agent: "planner", agent_id: 1, token: `agents-token-${daemon.sent.length}` } }
      : answer(sent),
  );
  await writeFile(
    join(repo, ".git/notesd/daemon.json"),
    JSON.stringify({
      pid: 1,
      host: "127.0.0.1",
      port: daemon.port,
      url: daemon.url,
      started_at: "",
      nonce: NONCE,
      version: "0",
      protocol: "1",
    }),
  );
}

const open = async (more: ConnectOptions = {}) => {
  client = await connect({ repo, env: {}, cwd: top, random: () => 0, ...more });
  return client;
};
const read = { note_id: "note_20261130_101500_k3vq7a" };
const calls = (method: string) => daemon.sent.filter((sent) => sent.method === method);

const until = (condition: () => boolean) => waitFor(String(condition), condition);

test("who can't prove that it wrote daemon.json gets no token", async () => {
  await serve(() => ({ result: {} }), null);
  await expect(open({ agent: "planner" })).rejects.toMatchObject({ code: "NO_DAEMON", exit: 9 });
  expect(daemon.sent).toEqual([]);
});

test("the person's token is exchanged once for the agent's, which is kept", async () => {
  await serve(() => ({ result: {} }));
  await (await open({ agent: "planner" })).callAny("x.y", {});
  client?.close();
  await (await open({ agent: "Planner" })).callAny("x.y", {});
  expect(calls("agent.token")).toMatchObject([{ token: "persons-token", params: { name: "planner" } }]);
  expect(calls("x.y").map((sent) => sent.token)).toEqual(["agents-token-1", "agents-token-1"]);
});

test("a revoked token is exchanged anew, once", async () => {
  await serve(() => ({ result: {} }));
  await open({ agent: "planner" });
  client?.close();
  daemon.tokens = new Set(["agents-token-2", "agents-token-3"]);
  await (await open({ agent: "planner" })).callAny("x.y", {});
  expect(calls("x.y")).toHaveLength(1);
  client?.close();
  daemon.tokens = new Set();
  await expect(open({ agent: "planner" })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("nobody's name: the person; and environment and notes.config.json name the repository", async () => {
  await serve(() => ({ result: {} }));
  await writeFile(join(top, "notes.config.json"), '{"repo": "repo"}');
  client = await connect({ env: {}, cwd: top });
  await client.callAny("x.y", {});
  client.close();
  client = await connect({ env: { NOTESD_REPO: repo, NOTESD_AGENT: "planner" }, cwd: tmpdir() });
  await client.callAny("x.y", {});
  expect(calls("x.y").map((sent) => sent.token)).toEqual(["persons-token", "agents-token-2"]);
  await expect(connect({ env: {}, cwd: tmpdir() })).rejects.toMatchObject({ exit: 2 });
});

test("a write whose answer was lost is sent again with the same key", async () => {
  let lost = 0;
  await serve((sent) =>
    sent.method === "notes.create" && lost++ === 0 ? "drop" : { result: { note_id: "n" } },
  );
  const created = await (await open()).notes.create({ title: "t", content: "c" });
  expect(created).toEqual({ note_id: "n" });
  const [first, second] = calls("notes.create");
  expect(first?.params["idempotency_key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(second?.params).toEqual(first?.params);
  expect([first?.connection, second?.connection]).toEqual([1, 2]);
});

test("reads are sent again too, and what may not be sent twice is rejected instead", async () => {
  let lost = 0;
  await serve(() => (lost++ === 0 ? "drop" : { result: { ok: true } }));
  const one = await open();
  expect(await one.call("notes.read", read)).toEqual({ ok: true });
  lost = 0;
  await expect(one.callAny("other.write", {})).rejects.toThrow(/may have taken effect/);
  expect(calls("other.write")).toHaveLength(1);
});

test("REPO_BUSY is waited out, and thrown when it lasts too long", async () => {
  let busy = 2;
  const refusal = {
    error: { code: 503, message: "busy", data: { code: "REPO_BUSY", state: "merge", retry_after_ms: 5 } },
  };
  await serve(() => (busy-- > 0 ? refusal : { result: { note_id: "n" } }));
  const one = await open({ waitMs: 1_000 });
  await one.notes.create({ title: "t", content: "c" });
  const keys = calls("notes.create").map((sent) => sent.params["idempotency_key"]);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  busy = 1_000_000;
  client?.close();
  await expect((await open({ waitMs: 20 })).notes.create({ title: "t", content: "c" })).rejects.toMatchObject(
    {
      code: "REPO_BUSY",
      data: { state: "merge" },
    },
  );
});

test("a subscription goes on from its last cursor and repeats nothing", async () => {
  let subscriptions = 0;
  await serve(({ method }) =>
    method === "notes.subscribe"
      ? { result: { subscription_id: `s${++subscriptions}`, cursor: "c0" } }
      : method === "drop"
        ? "drop"
        : { result: {} },
  );
  const one = await open();
  const seen: string[] = [];
  await one.callAny("session.set", { session: "today" });
  const subscription = await one.subscribe({ tags: "x" }, ({ note_id }) => seen.push(note_id));
  const change = (note_id: string, cursor?: string) =>
    daemon.notify("notes.changed", {
      subscription_id: `s${subscriptions}`,
      commit: "c",
      path: note_id,
      note_id,
      ...(cursor ? { cursor } : {}),
    });
  change("a", "c1");
  change("b");
  await until(() => seen.length === 2);
  await expect(one.callAny("drop", {})).rejects.toThrow();
  await until(() => subscriptions === 2);
  change("b");
  change("c", "c2");
  await until(() => subscription.cursor === "c2");
  expect(seen).toEqual(["a", "b", "c"]);
  expect(calls("notes.subscribe").map((sent) => sent.params)).toEqual([
    { tags: "x" },
    { tags: "x", since: "c1" },
  ]);
  expect(calls("session.set").map((sent) => sent.connection)).toEqual([1, 2]);
  await subscription.close();
  expect(calls("notes.unsubscribe").map((sent) => sent.params)).toEqual([{ subscription_id: "s2" }]);
});

test("a connection that is lost while it is being taken up again is tried again, once", async () => {
  let subscriptions = 0;
  await serve(({ method }) => {
    if (method === "drop") return "drop";
    if (method !== "notes.subscribe") return { result: {} };
    subscriptions += 1;
    return subscriptions === 2 ? "drop" : { result: { subscription_id: `s${subscriptions}`, cursor: "c0" } };
  });
  const one = await open();
  await one.subscribe({}, () => {});
  await expect(one.callAny("drop", {})).rejects.toThrow();
  await until(() => subscriptions === 3);
  await one.callAny("x.y", {});
  expect(calls("x.y").map((sent) => sent.connection)).toEqual([3]);
  expect(subscriptions).toBe(3);
});

test("a cursor that the daemon no longer knows is told to the handler", async () => {
  let first = true;
  await serve(({ method, params }) => {
    if (method === "drop") return "drop";
    if (params["since"] === "c0") {
      return { error: { code: 410, message: "gone", data: { code: "UNKNOWN_COMMIT", resync_from: "c9" } } };
    }
    const cursor = first ? "c0" : "c9";
    first = false;
    return { result: { subscription_id: "s", cursor } };
  });
  const one = await open();
  const resyncs: string[] = [];
  await one.subscribe({}, { changed: () => {}, resync: (cursor) => resyncs.push(cursor) });
  await expect(one.callAny("drop", {})).rejects.toThrow();
  await until(() => resyncs.length > 0);
  expect(resyncs).toEqual(["c9"]);
});

test("an error keeps its code and data", async () => {
  await serve(() => ({ error: { code: 409, message: "m", data: { code: "CONFLICT", revision: "r" } } }));
  await expect((await open()).call("notes.read", read)).rejects.toMatchObject({
    name: "NotesError",
    code: "CONFLICT",
    message: "m",
    data: { revision: "r" },
  });
});

test("close rejects what is open and nothing reconnects", async () => {
  let asked: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  await serve(() => {
    asked();
    return new Promise<Answer>(() => {});
  });
  const states: LinkState[] = [];
  const one = await open({ onState: (state) => states.push(state) });
  const pending = one.call("notes.read", read);
  await arrived;
  one.close();
  await expect(pending).rejects.toThrow(/closed/);
  await expect(one.call("notes.read", read)).rejects.toThrow(/closed/);
  expect(states).toEqual(["connecting", "open", "closed"]);
});

test("an address given by hand needs a token and is used as it is", async () => {
  await serve(() => ({ result: {} }));
  const url = daemon.url.replace("http", "ws");
  await expect(connect({ url, env: {} })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  client = await connect({ env: { NOTESD_URL: `${url}/rpc`, NOTESD_TOKEN: "t" } });
  await client.callAny("x.y", {});
  expect(calls("x.y").map((sent) => sent.token)).toEqual(["t"]);
});

test("a revoked agent never becomes the person: its token's refusal is final", async () => {
  const revoked = { code: 403, message: "revoked", data: { code: "FORBIDDEN", reason: "agent_revoked" } };
  daemon = await fakeDaemon(NONCE, () => ({ error: revoked }));
  const given = { url: daemon.url, token: "persons-token", agent: "planner", env: {} };
  await expect(connect(given)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(daemon.sent.map((sent) => sent.method)).toEqual(["agent.token"]);
});

test("an agent's own token is used as it is, whatever name stands beside it", async () => {
  const forbidden = { code: 403, message: "for persons", data: { code: "FORBIDDEN" } };
  daemon = await fakeDaemon(NONCE, ({ method }) =>
    method === "agent.token" ? { error: forbidden } : { result: {} },
  );
  client = await connect({ url: daemon.url, token: "builders-token", agent: "planner", env: {} });
  await client.callAny("x.y", {});
  expect(calls("x.y").map((sent) => sent.token)).toEqual(["builders-token"]);
});

test("agents' tokens on disk are the owner's alone to read", async () => {
  await serve(() => ({ result: {} }));
  await open({ agent: "planner" });
  const folder = join(repo, ".git/notesd/agent-tokens");
  const { readdir, stat } = await import("node:fs/promises");
  const [name = ""] = await readdir(folder);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, name), "utf8")).toBe("agents-token-1\n");
});
