/** Cases 33, 35 and 40 over real sockets. */
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openDoor, type TestDoor } from "../support/door.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { FakeNotebook } from "../support/fake-notebook.ts";
import { until } from "../support/wait.ts";

let door: TestDoor | null = null;
const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await door?.close();
  door = null;
});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; data: Record<string, unknown> };
}

/** A socket with everything it received, in order. */
async function client(opened: TestDoor, token = "planner-token") {
  const socket = new WebSocket(opened.url, { headers: { authorization: `Bearer ${token}` } });
  sockets.push(socket);
  const received: (Message | Message[])[] = [];
  const closed = new Promise<number>((resolve) => socket.once("close", (code) => resolve(code)));
  socket.on("message", (data) => received.push(JSON.parse(String(data))));
  socket.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  let next = 0;
  const single = () => received.filter((message): message is Message => !Array.isArray(message));
  const send = (method: string, params: object = {}) => {
    const id = ++next;
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  };
  const reply = (id: unknown) =>
    until(`the reply to ${id}`, () => single().find((message) => message.id === id));
  return {
    socket,
    received,
    closed,
    send,
    reply,
    call: (method: string, params: object = {}) => reply(send(method, params)),
    told: (method: string) =>
      single()
        .filter((message) => message.method === method)
        .map((message) => message.params ?? {}),
    first: () => until("a message", () => received[0]),
  };
}

test("a request and its reply, and a notification without one that is carried out", async () => {
  door = await openDoor();
  const one = await client(door);
  one.socket.send('{"jsonrpc":"2.0","method":"notes.create","params":{"title":"told","content":""}}');
  const { result } = await one.call("notes.list");
  expect(result).toMatchObject({ total: 1, notes: [{ title: "told" }] });
  expect(one.received).toHaveLength(1);
});

test("written and searched on one socket at once: found", async () => {
  door = await openDoor();
  const { notebook } = door;
  const entered: (() => void)[] = [];
  notebook.beforeWrite = () => new Promise((resolve) => entered.push(resolve));
  const one = await client(door);
  const ids = [
    one.send("notes.create", { title: "a", content: "needle one" }),
    one.send("notes.create", { title: "b", content: "needle two" }),
    one.send("notes.search", { query: "needle" }),
    one.send("notes.create", { title: "c", content: "needle three" }),
    one.send("notes.list"),
  ];
  await until("both writes at the notebook", () => entered.length === 2);
  expect(one.received).toEqual([]);
  for (const let_ of entered.splice(0)) let_();
  expect((await one.reply(ids[2])).result).toMatchObject({ total: 2 });
  await until("the third write", () => entered.length === 1);
  entered[0]?.();
  expect((await one.reply(ids[4])).result).toMatchObject({ total: 3 });
});

test("writes of one socket reach the notebook in their order, rights or not", async () => {
  door = await openDoor();
  const one = await client(door);
  const { result } = await one.call("notes.create", { title: "a", content: "" });
  const note_id = result?.["note_id"];
  door.notebook.beforeEntering = ({ change }) =>
    new Promise((resolve) => (change.kind === "append" ? setImmediate(resolve) : resolve()));
  const last = [
    one.send("notes.append", { note_id, content: "1" }),
    one.send("notes.create", { title: "b", content: "" }),
    one.send("notes.append", { note_id, content: "2" }),
    one.send("notes.create", { title: "c", content: "" }),
  ].at(-1);
  await one.reply(last);
  expect(door.notebook.requests.map(({ change }) => change.kind)).toEqual([
    "create",
    "append",
    "create",
    "append",
    "create",
  ]);
});

test("the session of session.set stands in later requests of the socket alone", async () => {
  door = await openDoor();
  const one = await client(door);
  one.send("session.set", { session: "s1", task: "t" });
  await one.call("notes.create", { title: "a", content: "" });
  const other = await client(door);
  await other.call("notes.create", { title: "b", content: "" });
  const sessions = door.notebook.seenCallers.map((caller) => caller.session);
  expect(sessions.at(-1)).toBeNull();
  expect(sessions).toContain("s1");
});

test.each<[string, number, () => string]>([
  ["not JSON", -32700, () => "{"],
  ["an empty frame", -32700, () => ""],
  ["an empty batch", -32600, () => "[]"],
  ["a batch of 100,000", -32600, () => `[${Array(100_000).fill("1").join()}]`],
  ["the method constructor", -32601, () => '{"jsonrpc":"2.0","id":"x","method":"constructor"}'],
  ["an id over 2^53", -32600, () => '{"jsonrpc":"2.0","id":9007199254740993,"method":"notes.summary"}'],
  [
    "half a surrogate pair in a body",
    -32602,
    () => '{"jsonrpc":"2.0","id":"x","method":"notes.create","params":{"title":"t","content":"\\ud800"}}',
  ],
])("%s is answered with %i and the socket lives on", async (_name, code, frame) => {
  door = await openDoor();
  const one = await client(door);
  one.socket.send(frame());
  expect(await one.first()).toMatchObject({ error: { code } });
  expect((await one.call("notes.summary")).result).toMatchObject({ total_notes: 0 });
});

test("odd members of a batch are answered each by itself, in one array", async () => {
  door = await openDoor();
  const one = await client(door);
  one.socket.send(
    `[1,{"jsonrpc":"2.0","id":"a","method":"notes.summary"},{"jsonrpc":"2.0","method":"notes.summary"},${"[".repeat(400_000)}${"]".repeat(400_000)}]`,
  );
  expect(await one.first()).toMatchObject([
    { id: null, error: { code: -32600 } },
    { id: "a", result: { total_notes: 0 } },
    { id: null, error: { code: -32600 } },
  ]);
});

test("a batch of notifications alone has no answer", async () => {
  door = await openDoor();
  const one = await client(door);
  one.socket.send('[{"jsonrpc":"2.0","method":"notes.summary"}]');
  await one.call("notes.summary");
  expect(one.received).toHaveLength(1);
});

test("a batch whose answers are too large together still answers each", async () => {
  door = await openDoor();
  const one = await client(door);
  const { result } = await one.call("notes.create", { title: "big", content: "x".repeat(250_000) });
  const member = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "notes.read",
    params: { note_id: result?.["note_id"] },
  });
  one.socket.send(JSON.stringify(Array.from({ length: 100 }, (_, id) => member(id))));
  const batch = (await until("the batch", () => one.received[1])) as Message[];
  expect(batch.map((message) => message.id)).toEqual(Array.from({ length: 100 }, (_, id) => id));
  expect(batch.filter((message) => message.result)).toHaveLength(3);
  expect(batch.at(-1)).toMatchObject({ error: { code: 413 } });
  expect(JSON.stringify(batch).length).toBeLessThan(1_000_000);
});

test("binary closes with 1003, and more than 1 MiB with 1009, whole or in fragments", async () => {
  door = await openDoor();
  const binary = await client(door);
  binary.socket.send(Buffer.from("{}"));
  expect(await binary.closed).toBe(1003);
  const large = await client(door);
  large.socket.send("x".repeat(2 << 20));
  expect(await large.closed).toBe(1009);
  const parts = await client(door);
  for (let n = 0; n < 5; n++) parts.socket.send("x".repeat(300_000), { fin: false });
  expect(await parts.closed).toBe(1009);
  const whole = await client(door);
  whole.socket.send(" ".repeat(1 << 20));
  expect(await whole.first()).toMatchObject({ error: { code: -32700 } });
  await until("the closed sockets to be forgotten", () => door?.sockets.size === 1);
});

test("subscribers are told of what passes their filters, after the reply, until they unsubscribe", async () => {
  door = await openDoor();
  const one = await client(door);
  const subscribed = await one.call("notes.subscribe", { note_type: "blocker" });
  const subscription_id = subscribed.result?.["subscription_id"];
  expect(subscribed.result).toEqual({ subscription_id: expect.any(String), cursor: expect.any(String) });
  await one.call("notes.create", { title: "no", content: "" });
  await one.call("notes.create", { title: "yes", content: "", note_type: "blocker", reason: "why" });
  const [told] = await until(
    "a notification",
    () => one.told("notes.changed").length > 0 && one.told("notes.changed"),
  );
  expect(told).toMatchObject({
    subscription_id,
    title: "yes",
    action: "create",
    reason: "why",
    cursor: expect.any(String),
  });
  expect((await one.call("notes.unsubscribe", { subscription_id })).result).toEqual({});
  await one.call("notes.create", { title: "yes too", content: "", note_type: "blocker" });
  expect(one.told("notes.changed")).toHaveLength(1);
  expect((await one.call("notes.unsubscribe", { subscription_id })).error).toMatchObject({ code: 404 });
  expect(door.notebook.subscriberCount).toBe(0);
});

test("a subscription in a batch is answered before it tells anything", async () => {
  door = await openDoor();
  const one = await client(door);
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "notes.subscribe", params: {} },
    { jsonrpc: "2.0", id: 2, method: "notes.create", params: { title: "t", content: "" } },
  ];
  one.socket.send(JSON.stringify(batch));
  await until("the notification", () => one.told("notes.changed").length === 1);
  expect(Array.isArray(one.received[0])).toBe(true);
});

test("the repository's state reaches those who subscribed to something", async () => {
  door = await openDoor();
  const [one, other] = [await client(door), await client(door)];
  await one.call("notes.subscribe");
  door.notebook.tellState({ state: "rebase", path: "rebase-merge", since: "2026-11-30T10:00:00.000Z" });
  await until("the state", () => one.told("daemon.state").length === 1);
  expect(one.told("daemon.state")).toEqual([
    { state: "rebase", path: "rebase-merge", since: "2026-11-30T10:00:00.000Z" },
  ]);
  await other.call("notes.summary");
  expect(other.told("daemon.state")).toEqual([]);
});

test("a subscriber that stops reading costs bounded memory, is told that it lagged, and misses nothing", async () => {
  door = await openDoor();
  const { notebook } = door;
  const [slow, writer] = [await client(door), await client(door)];
  await slow.call("notes.subscribe");
  slow.socket.pause();
  const title = "x".repeat(300);
  const reason = "y".repeat(500);
  const count = 20_000;
  for (let sent = 0; sent < count; sent += 1000) {
    for (let n = 0; n < 1000; n++) {
      void notebook.write(
        {
          change: {
            kind: "create",
            title,
            content: "",
            noteType: "general",
            tags: [],
            extra: {},
            pinned: false,
            expiresInHours: null,
            folder: null,
          },
          reason,
          idempotency: null,
        },
        { principal: { kind: "person", name: "Ada", email: "a@b" }, session: null, task: null },
      );
    }
    await writer.call("notes.summary");
  }
  // They are some 25 MB. The network takes a few, the socket holds one, and the rest stays in the log.
  expect(notebook.delivered).toBeGreaterThan(500);
  expect(notebook.delivered).toBeLessThan(count);
  slow.socket.resume();
  await until("every change", () => slow.told("notes.changed").length === count, 25_000);
  const cursors = slow.told("notes.changed").map((params) => params["cursor"]);
  expect(cursors).toEqual(notebook.log.map((change) => change.cursor));
  expect(slow.told("notes.lagged").length).toBeGreaterThan(0);
  expect(slow.told("notes.lagged")[0]).toMatchObject({
    cursor: expect.any(String),
    subscription_id: expect.any(String),
  });
});

test("a client that sends and never reads is not read on, and is closed at last", async () => {
  const clock = fakeClock();
  door = await openDoor({ clock });
  const writer = await client(door);
  const { result } = await writer.call("notes.create", { title: "big", content: "x".repeat(250_000) });
  const greedy = await client(door);
  greedy.socket.pause();
  const handled = () => door?.notebook.seenCallers.length ?? 0;
  const timers = clock.waiting;
  for (let n = 0; n < 500; n++) greedy.send("notes.read", { note_id: result?.["note_id"] });
  let before = -1;
  await until("the door to stop reading", async () => {
    // A machine that does nothing for a while looks the same; that its patience is counted doesn't.
    const settled = handled() === before && clock.waiting > timers;
    before = handled();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return settled;
  });
  expect(handled()).toBeLessThan(200);
  expect((await writer.call("notes.summary")).result).toMatchObject({ total_notes: 1 });
  expect(door.sockets.size).toBe(2);
  clock.advance(61_000);
  // What the network took in between gives it another minute.
  clock.advance(61_000);
  greedy.socket.resume();
  expect(await greedy.closed).toBe(1013);
});

test("a half-open peer, which answers no ping, is dropped; others stay", async () => {
  const clock = fakeClock();
  const opened = await openDoor({ clock });
  door = opened;
  const alive = await client(opened);
  const dead = connect(opened.port, "127.0.0.1");
  dead.on("error", () => {});
  dead.write(
    `GET /rpc HTTP/1.1\r\nHost: 127.0.0.1:${opened.port}\r\nAuthorization: Bearer ada-token\r\nUpgrade: websocket\r\n` +
      "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  await until("both sockets", () => opened.sockets.size === 2);
  let pings = 0;
  alive.socket.on("ping", () => pings++);
  clock.advance(30_000);
  await until("the ping", () => pings === 1);
  await alive.call("notes.summary");
  clock.advance(30_000);
  await until("the dead peer to be dropped", () => opened.sockets.size === 1);
  expect((await alive.call("notes.summary")).result).toBeDefined();
  dead.destroy();
});

test("200 clients that come back at once are all served", async () => {
  const opened = await openDoor();
  door = opened;
  const clients = await Promise.all(Array.from({ length: 200 }, () => client(opened)));
  await Promise.all(clients.map((one) => one.call("notes.subscribe")));
  for (const one of clients) one.socket.terminate();
  const again = await Promise.all(Array.from({ length: 200 }, () => client(opened)));
  const replies = await Promise.all(again.map((one) => one.call("notes.subscribe", {})));
  expect(replies.every((reply) => reply.result)).toBe(true);
  await until(
    "the old ones to be forgotten",
    () => opened.sockets.size === 200 && opened.notebook.subscriberCount === 200,
  );
});

test("over the limit of sockets new ones are refused and old ones stay", async () => {
  const opened = await openDoor({ sockets: { mostSockets: 1 } });
  door = opened;
  const one = await client(opened);
  await expect(client(opened)).rejects.toThrow("503");
  expect((await one.call("notes.summary")).result).toBeDefined();
});

test("a token that is revoked ends its sockets at their next request", async () => {
  const opened = await openDoor();
  door = opened;
  const one = await client(opened);
  opened.revoked.add("planner-token");
  one.send("notes.create", { title: "t", content: "" });
  expect(await one.closed).toBe(1008);
  expect(opened.notebook.requests).toEqual([]);
});

test("who only listens is out within a second of the end of their token, and others stay", async () => {
  const clock = fakeClock();
  const opened = await openDoor({ clock });
  door = opened;
  const [listener, other] = [await client(opened), await client(opened, "ada-token")];
  await listener.call("notes.subscribe", {});
  opened.revoked.add("planner-token");
  clock.advance(1_000);
  expect(await listener.closed).toBe(1008);
  expect((await other.call("notes.create", { title: "t", content: "" })).result).toBeDefined();
  expect(listener.told("notes.changed")).toEqual([]);
  await until("the listener to be forgotten", () => opened.sockets.size === 1);
});

test("over its rate a principal is answered 429 with how long to wait, at every socket of its", async () => {
  const clock = fakeClock();
  const opened = await openDoor({ clock, quota: { writesPerSecond: 1 } });
  door = opened;
  const [one, two, ada] = [await client(opened), await client(opened), await client(opened, "ada-token")];
  for (const socket of [one, two]) await socket.call("notes.create", { title: "t", content: "" });
  const { error } = await two.call("notes.create", { title: "t", content: "" });
  expect(error).toMatchObject({ code: 429, data: { code: "OVERLOADED", retry_after_ms: 1000 } });
  expect((await ada.call("notes.create", { title: "t", content: "" })).result).toBeDefined();
  expect((await two.call("notes.list")).result).toMatchObject({ total: 3 });
  clock.advance(1_000);
  expect((await two.call("notes.create", { title: "t", content: "" })).result).toBeDefined();
  expect(opened.logged.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ principal: "agent:planner", action: "notes.create", code: "OVERLOADED" }),
  );
});

test("closing answers what was taken and then closes with 1001", async () => {
  const opened = await openDoor();
  let letGo = () => {};
  opened.notebook.beforeWrite = () =>
    new Promise((resolve) => {
      letGo = resolve;
    });
  const one = await client(opened);
  const id = one.send("notes.create", { title: "t", content: "" });
  await until("the write", () => opened.notebook.requests.length === 1);
  const closed = opened.close();
  letGo();
  expect((await one.reply(id)).result).toMatchObject({ note_id: expect.any(String) });
  expect(await one.closed).toBe(1001);
  await closed;
});

test("writes that were sent before the socket closed are carried out, behind reads too", async () => {
  const opened = await openDoor();
  door = opened;
  const { notebook } = opened;
  const letGo: (() => void)[] = [];
  notebook.beforeWrite = () => new Promise((resolve) => letGo.push(resolve));
  const one = await client(opened);
  const note = (title: string) =>
    `{"jsonrpc":"2.0","method":"notes.create","params":{"title":"${title}","content":""}}`;
  one.socket.send(note("first"));
  one.send("notes.list");
  one.socket.send(note("second"));
  await until("the first write", () => letGo.length === 1);
  one.socket.close();
  await one.closed;
  await until("the socket to be gone", () => opened.sockets.size === 0);
  letGo[0]?.();
  await until("the second write", () => letGo.length === 2);
  letGo[1]?.();
  await until("both notes", () => notebook.notes.size === 2);
});

test("closing doesn't wait for a client that never reads", async () => {
  const opened = await openDoor({ sockets: { closeMs: 100 } });
  const one = await client(opened);
  const { result } = await one.call("notes.create", { title: "big", content: "x".repeat(250_000) });
  one.socket.pause();
  for (let n = 0; n < 100; n++) one.send("notes.read", { note_id: result?.["note_id"] });
  await until("requests to be taken", () => opened.notebook.seenCallers.length > 20);
  await opened.close();
  expect(opened.sockets.size).toBe(0);
});

test("a token store that can't be read ends the connection and not the daemon", async () => {
  let broken = false;
  const opened = await openDoor({
    guard: {
      authenticate: () => {
        if (broken) throw new Error("unreadable");
        return { kind: "person", name: "Ada", email: "ada@example.org" };
      },
    },
  });
  door = opened;
  const one = await client(opened);
  broken = true;
  one.send("notes.summary");
  expect(await one.closed).toBe(1011);
  await expect(client(opened)).rejects.toThrow("500");
  const answered = await fetch(`${opened.http}/rpc`, {
    method: "POST",
    headers: { authorization: "Bearer x" },
    body: "{}",
  });
  expect(answered.status).toBe(500);
  broken = false;
  expect((await (await client(opened)).call("notes.summary")).result).toBeDefined();
});

test("an error that is no refusal shows a reference, and the log holds it with the cause", async () => {
  const notebook = new FakeNotebook();
  notebook.beforeWrite = async () => {
    throw new TypeError("secret detail");
  };
  const opened = await openDoor({ notebook });
  door = opened;
  const one = await client(opened);
  const { error } = await one.call("notes.create", { title: "my title", content: "my content" });
  expect(error).toMatchObject({ code: -32603, data: { code: "INTERNAL", ref: expect.any(String) } });
  expect(JSON.stringify(error)).not.toContain("secret detail");
  const entry = opened.logged.find((line) => line.includes(String(error?.data["ref"])));
  expect(entry).toContain("secret detail");
  expect(opened.logged.join("")).not.toMatch(/my title|my content|planner-token/);
});

test("a refusal whose data would be too large loses its largest member and stays a refusal", async () => {
  const notebook = new FakeNotebook();
  const { NotesError } = await import("../../src/domain/errors.ts");
  notebook.beforeWrite = async () => {
    throw new NotesError("CONFLICT", "changed", { revision: "r", merged: "\u0001".repeat(250_000) });
  };
  const opened = await openDoor({ notebook });
  door = opened;
  const one = await client(opened);
  const { error } = await one.call("notes.create", { title: "t", content: "" });
  expect(error).toMatchObject({ code: 409, data: { code: "CONFLICT", revision: "r", truncated: true } });
});
