/** A write with a key through the doors: one effect, whichever door it came by and however often. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRpc, type Rpc } from "../support/daemon.ts";
import { openDoor, type TestDoor } from "../support/door.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

let opened: TestNotebook;
let door: TestDoor;
let rpc: Rpc;
let refuses: string[];
beforeEach(async () => {
  opened = await openTestNotebook();
  refuses = [];
  const served = new Proxy(opened.notebook, {
    get: (target, name, receiver) =>
      refuses.includes(String(name))
        ? () => Promise.reject(new Error("asked before the repeat was seen"))
        : Reflect.get(target, name, receiver),
  });
  door = await openDoor({ served });
  rpc = await openRpc(door.url, "planner-token");
});
afterEach(async () => {
  rpc.close();
  await door.close();
  await opened.dispose();
});

type Params = Record<string, unknown>;
async function post(body: unknown, token = "planner-token") {
  const response = await fetch(`${door.http}/rpc`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}
const message = (method: string, params: Params, id: number | null = 1) => ({
  ...{ jsonrpc: "2.0", method, params },
  ...(id === null ? {} : { id }),
});
const note = (key: string, more: Params = {}) => ({
  title: "t",
  content: "c",
  idempotency_key: key,
  ...more,
});
const codeOf = async (method: string, params: Params) =>
  (await rpc.reply(method, params)).error?.data["code"];
const total = async () => (await rpc.call("notes.list")).total;

test("HTTP and WebSocket share what was done, each principal for itself", async () => {
  const first = await rpc.call("notes.create", note("k"));
  const again = await post(message("notes.create", note("k")));
  expect(again.result).toEqual({
    note_id: first.note_id,
    path: first.path,
    revision: first.revision,
    commit: first.commit,
    replayed: true,
  });
  const other = await post(message("notes.create", note("k")), "ada-token");
  expect(other.result.replayed).toBeUndefined();
  expect(await total()).toBe(2);
});

test("a key stands for one method and its parameters as they were sent, in any order and spelling of JSON", async () => {
  const first = await rpc.call("notes.create", note("k", { "extra.n": 1, tags: ["a"] }));
  const spelt =
    '{"jsonrpc":"2.0","id":1,"method":"notes.create","params":{"tags":["\\u0061"],"extra.n":1.0,"idempotency_key":"k","content":"c","title":"t"}}';
  expect((await post(spelt)).result).toMatchObject({ note_id: first.note_id, replayed: true });
  for (const [method, params] of [
    ["notes.create", note("k", { "extra.n": 2, tags: ["a"] })],
    ["notes.create", note("k", { extra: { n: 1 }, tags: ["a"] })],
    ["notes.create", note("k", { "extra.n": 1, tags: ["a"], reason: "why" })],
    ["notes.append", { note_id: first.note_id, content: "c", idempotency_key: "k" }],
    ["notes.run", { action: "create", ...note("k") }],
  ] as const)
    expect(await codeOf(method, params)).toBe("IDEMPOTENCY_MISMATCH");
  expect(await codeOf("notes.create", note("k", { unknown: 1 }))).toBe("INVALID_PARAMS");
  expect(await total()).toBe(1);
});

test("in a batch the same key twice is one write; by POST the second is told that it is a repeat", async () => {
  const twice = (key: string) => [1, 2].map((id) => message("notes.create", note(key), id));
  const [first, second] = await post(twice("k"));
  expect(second.result).toMatchObject({ note_id: first.result.note_id, replayed: true });
  const answers = new Promise<{ result: { note_id: string } }[]>((resolve) =>
    rpc.socket.on("message", (data) => {
      const reply = JSON.parse(String(data));
      if (Array.isArray(reply)) resolve(reply);
    }),
  );
  rpc.socket.send(JSON.stringify(twice("l")));
  expect(new Set((await answers).map(({ result }) => result.note_id)).size).toBe(1);
  expect(await total()).toBe(2);
});

test("what a notification did is known to the request that repeats it", async () => {
  expect(await post(message("notes.create", note("k"), null))).toBeNull();
  expect(await rpc.call("notes.create", note("k"))).toMatchObject({ replayed: true });
  expect(await total()).toBe(1);
});

test("a socket that is cut while its write is under way, and another that sends it again: one write", async () => {
  const rounds = Array.from({ length: 20 }, async (_, round) => {
    const cut = await openRpc(door.url, "planner-token");
    const lost = cut.call("notes.create", note(`cut-${round}`)).catch(() => null);
    cut.socket.close();
    const again = await rpc.call("notes.create", note(`cut-${round}`));
    const first = await lost;
    if (first !== null) expect(again.note_id).toBe(first.note_id);
  });
  await Promise.all(rounds);
  expect(await total()).toBe(20);
});

test("a key has 1 to 128 characters of any script, and no two spellings are one", async () => {
  const long = "🗝".repeat(128);
  for (const key of [long, "ключ", "k\u0000", " ", "é", "e\u0301"]) {
    expect((await rpc.call("notes.create", note(key))).replayed).toBeUndefined();
    expect(await rpc.call("notes.create", note(key))).toMatchObject({ replayed: true });
  }
  expect(await total()).toBe(6);
  for (const key of ["", `${long}k`, 7, null, "half \ud800"])
    expect(await codeOf("notes.create", note("k", { idempotency_key: key }))).toBe("INVALID_PARAMS");
});

test("every kind of write is replayed, also when by now it would be refused", async () => {
  const { note_id, commit, revision } = await rpc.call("notes.create", note("create"));
  const writes: [string, Params][] = [
    ["notes.append", { note_id, content: "more\n", if_revision: revision }],
    ["notes.update", { note_id, status: "resolved" }],
    ["notes.edit", { note_id, old_str: "more", new_str: "less" }],
    ["notes.restore", { note_id, at: commit }],
    ["notes.delete", { note_id }],
  ];
  const done: [string, Params, Params][] = [];
  for (const [method, params] of writes) {
    const keyed = { ...params, idempotency_key: method };
    const { commit: made, revision: now = null } = await rpc.call(method, keyed);
    done.push([method, keyed, { note_id, revision: now, commit: made, replayed: true }]);
  }
  // Nothing of the note is looked up for a repeat: it is gone.
  refuses = ["noteThen", "write"];
  for (const [method, params, answer] of done) {
    const path = method === "notes.delete" ? null : expect.stringMatching(/^notes\//);
    expect(await rpc.call(method, params)).toEqual({ ...answer, path });
  }
});

test("what is saved under a key, rules of behaviour and files of the memory tool are written once as well", async () => {
  const writes: [string, Params][] = [
    ["notes.save", { key: "where", value: "here", scope: "agent" }],
    ["notes.save", { key: "where", value: "there", scope: "agent", pinned: true }],
    ["feedback.save", { key: "how", rule: "shortly", scope: "workspace" }],
    ["feedback.delete", { key: "how", scope: "workspace" }],
  ];
  const done: [string, Params, Params][] = [];
  for (const [number, [method, params]] of writes.entries()) {
    const keyed = { ...params, idempotency_key: `key ${number}` };
    const { note_id, commit, revision = null } = await rpc.call(method, keyed);
    done.push([method, keyed, { note_id, commit, revision, replayed: true }]);
  }
  const file = { command: "create", path: "/memories/a.txt", file_text: "text", idempotency_key: "file" };
  const made = await rpc.call("memory.run", file);
  const tip = await opened.store.tip();
  for (const [method, params, answer] of done) expect(await rpc.call(method, params)).toMatchObject(answer);
  expect(await rpc.call("memory.run", file)).toBe(made);
  expect(await opened.store.tip()).toBe(tip);
  // The first value does not come back with the repeat of its save.
  const [{ value }] = (await rpc.call("notes.recall", { key: "where" })).notes;
  expect(value).toBe("there");
});

test("notes.run answers a repeat in its own shapes", async () => {
  const create = { action: "create", ...note("c") };
  const id = await rpc.call("notes.run", create);
  expect(await rpc.call("notes.run", create)).toBe(id);
  const update = { action: "update", note_id: id, title: "u", idempotency_key: "u" };
  expect(await rpc.call("notes.run", update)).toBe("Note updated: u");
  expect(await rpc.call("notes.run", update)).toBe("Note updated: u");
  const gone = { action: "delete", note_id: id, idempotency_key: "d" };
  expect(await rpc.call("notes.run", gone)).toBe("Note deleted: u");
  expect(await rpc.call("notes.run", gone)).toMatch(/^Note deleted: /);
  expect((await rpc.call("notes.history", { note_id: id })).entries).toHaveLength(3);
});

test("an error is not remembered, and a write that changes nothing is", async () => {
  const { note_id, revision } = await rpc.call("notes.create", note("k"));
  const stale = { note_id, status: "resolved", if_revision: "0".repeat(40), idempotency_key: "s" };
  expect(await codeOf("notes.update", stale)).toBe("CONFLICT");
  expect(await codeOf("notes.update", stale)).toBe("CONFLICT");
  expect(await rpc.call("notes.update", { ...stale, if_revision: revision })).toMatchObject({
    changed: true,
  });
  const same = { note_id, status: "resolved", idempotency_key: "n" };
  const before = await opened.store.tip();
  const empty = await rpc.call("notes.update", same);
  expect(empty).toMatchObject({ changed: false });
  expect(empty.commit).not.toBe(before);
  expect(await rpc.call("notes.update", same)).toMatchObject({ replayed: true, commit: empty.commit });
  expect(await opened.store.tip()).toBe(empty.commit);
});
