/** The WebSocket door over a whole notebook: order, read-your-writes, subscriptions and resuming. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openDoor, type TestDoor } from "../support/door.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";
import { until } from "../support/wait.ts";

let opened: TestNotebook;
let door: TestDoor;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  opened = await openTestNotebook();
  door = await openDoor({ served: opened.notebook });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await door.close();
  await opened.dispose();
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number };
}

async function client() {
  const socket = new WebSocket(door.url, { headers: { authorization: "Bearer planner-token" } });
  sockets.push(socket);
  const received: Message[] = [];
  socket.on("message", (data) => received.push(JSON.parse(String(data))));
  await new Promise<void>((resolve, reject) => socket.once("open", () => resolve()).once("error", reject));
  let next = 0;
  const send = (method: string, params: object = {}) => {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: ++next, method, params }));
    return next;
  };
  const reply = (id: number) =>
    until(`the reply to ${id}`, () => received.find((message) => message.id === id));
  const told = () =>
    received.flatMap((message) => (message.method === "notes.changed" ? [message.params ?? {}] : []));
  return {
    socket,
    received,
    send,
    reply,
    told,
    call: (method: string, params: object = {}) => reply(send(method, params)),
  };
}

test("written and searched at once on one socket: found, a hundred times over", async () => {
  const one = await client();
  const searches = Array.from({ length: 100 }, (_, n) => {
    one.send("notes.create", { title: `t${n}`, content: `needle${n}x` });
    return one.send("notes.search", { query: `needle${n}x` });
  });
  for (const id of searches) expect((await one.reply(id)).result).toMatchObject({ total: 1 });
});

test("updates of one note that were sent without waiting apply in their order", async () => {
  const one = await client();
  const created = await one.call("notes.create", { title: "t", content: "" });
  const note_id = created.result?.["note_id"];
  for (let n = 0; n < 50; n++)
    one.send(n % 2 ? "notes.append" : "notes.update", { note_id, content: `${n}\n` });
  expect((await one.call("notes.read", { note_id })).result).toMatchObject({ content: "48\n49\n" });
  const { result } = await one.call("notes.history", { note_id, limit: 100 });
  expect(result?.["entries"]).toHaveLength(51);
});

test("a subscriber hears each change once and in order, its own included, and resumes without gap or repeat", async () => {
  const [writer, first] = [await client(), await client()];
  const subscribed = await first.call("notes.subscribe");
  expect(first.received[0]).toMatchObject({ id: 1, result: subscribed.result });
  const write = (from: number, to: number) => {
    for (let n = from; n < to; n++) writer.send("notes.create", { title: `t${n}`, content: "" });
  };
  write(0, 20);
  await until("twenty changes", () => first.told().length === 20);
  first.socket.terminate();
  write(20, 40);
  await writer.call("notes.summary");
  const again = await client();
  const cursor = first.told().at(-1)?.["cursor"];
  await again.call("notes.subscribe", { since: cursor });
  write(40, 60);
  await until("forty changes", () => again.told().length === 40);
  const titles = [...first.told(), ...again.told()].map((change) => change["title"]);
  expect(titles).toEqual(Array.from({ length: 60 }, (_, n) => `t${n}`));
});

test("an unknown cursor is 410 and the socket lives on", async () => {
  const one = await client();
  const refused = await one.call("notes.subscribe", { since: "f".repeat(40) });
  expect(refused.error).toMatchObject({ code: 410 });
  expect((await one.call("notes.summary")).result).toBeDefined();
});
