import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NONCE, openDoor, type TestDoor } from "../support/door.ts";

let door: TestDoor;
beforeAll(async () => {
  door = await openDoor({ guard: { allowedOrigins: ["https://app.example.org"] } });
});
afterAll(() => door.close());

const AUTH = { authorization: "Bearer planner-token" };
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = AUTH) =>
  fetch(`${door.http}/rpc`, { method: "POST", headers, body });
const request = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

test("a call is answered with 200 and JSON, its errors too", async () => {
  const created = await post(request("notes.create", { title: "t", content: "c" }));
  expect([created.status, created.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await created.json()).toMatchObject({
    jsonrpc: "2.0",
    id: 1,
    result: { note_id: expect.any(String) },
  });
  for (const [body, code] of [
    [request("notes.read", { note_id: "no" }), 404],
    [request("no.such"), -32601],
    ["{", -32700],
    ["", -32700],
    ["[]", -32600],
  ] as const) {
    const refused = await post(body);
    expect(refused.status).toBe(200);
    expect(await refused.json()).toMatchObject({ error: { code } });
  }
  const notUtf8 = await post(Uint8Array.from([0x22, 0xff, 0x22]));
  expect(await notUtf8.json()).toMatchObject({ error: { code: -32700 } });
});

test("a notification is carried out and answered with 204 and nothing", async () => {
  const before = door.notebook.notes.size;
  const told = await post('{"jsonrpc":"2.0","method":"notes.create","params":{"title":"n","content":""}}');
  expect([told.status, await told.text()]).toEqual([204, ""]);
  expect(door.notebook.notes.size).toBe(before + 1);
});

test("a batch runs in its order and is answered in it", async () => {
  const batch = [
    {
      jsonrpc: "2.0",
      id: "a",
      method: "notes.create",
      params: { title: "batched", content: "unusual word" },
    },
    { jsonrpc: "2.0", method: "notes.summary" },
    { jsonrpc: "2.0", id: "b", method: "notes.search", params: { query: "unusual word" } },
  ];
  const answered = await post(JSON.stringify(batch));
  expect(await answered.json()).toMatchObject([{ id: "a" }, { id: "b", result: { total: 1 } }]);
});

test("subscriptions and sessions are refused with what to do instead", async () => {
  for (const [method, params] of [
    ["notes.subscribe", {}],
    ["session.set", { session: "s" }],
  ] as const) {
    const answered = await post(request(method, params));
    expect(await answered.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining("WebSocket") },
    });
  }
});

test("a body over 1 MiB is refused with 413, told or not how long it is", async () => {
  const large = await post("x".repeat((1 << 20) + 1));
  expect(large.status).toBe(413);
  expect(await large.json()).toMatchObject({ error: { data: { code: "TOO_LARGE" } } });
  const status = await new Promise<string>((resolve) => {
    const socket = connect(door.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.once("data", (data) => {
      resolve(String(data).slice(9, 12));
      socket.destroy();
    });
    socket.write(
      `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ada-token\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    for (let n = 0; n < 20; n++) socket.write(chunk);
  });
  expect(status).toBe("413");
  const fits = await post(" ".repeat(1 << 20));
  expect(await fits.json()).toMatchObject({ error: { code: -32700 } });
  expect((await post("x", { ...AUTH, "content-encoding": "gzip" })).status).toBe(415);
});

test("/healthz is alive without a token and proves the nonce of daemon.json", async () => {
  const plain = await fetch(`${door.http}/healthz`);
  expect([plain.status, plain.headers.get("notesd-proof")]).toEqual([200, null]);
  const challenge = "00112233445566778899aabbccddeeff";
  const proved = await fetch(`${door.http}/healthz`, { headers: { "Notesd-Challenge": challenge } });
  expect(proved.headers.get("notesd-proof")).toBe(
    createHmac("sha256", NONCE).update(challenge).digest("hex"),
  );
  expect((await fetch(`${door.http}/healthz`, { headers: { "Notesd-Challenge": "zz" } })).status).toBe(400);
  expect((await fetch(`${door.http}/healthz`, { method: "HEAD" })).status).toBe(200);
});

test("/openrpc.json needs a token and is the document", async () => {
  expect((await fetch(`${door.http}/openrpc.json`)).status).toBe(401);
  const answered = await fetch(`${door.http}/openrpc.json`, { headers: AUTH });
  expect(await answered.json()).toMatchObject({ openrpc: "1.3.2" });
});

test("other paths and methods are refused with sentences", async () => {
  const lost = await fetch(`${door.http}/nothing`, { headers: AUTH });
  expect(lost.status).toBe(404);
  expect(await lost.json()).toMatchObject({ error: { message: expect.stringContaining("/rpc") } });
  const wrong = await fetch(`${door.http}/rpc`, { headers: AUTH });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  for (const method of ["constructor", "DELETE"]) {
    const refused = await fetch(`${door.http}/healthz`, { method: method === "DELETE" ? method : "PUT" });
    expect(refused.status).toBe(405);
  }
});

test("a page of an allowed Origin may ask and read, and no other", async () => {
  const asks = { origin: "https://app.example.org", "access-control-request-method": "POST" };
  const allowed = await fetch(`${door.http}/rpc`, { method: "OPTIONS", headers: asks });
  expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([204, asks.origin]);
  const called = await post(request("notes.summary"), { ...AUTH, origin: asks.origin });
  expect(called.headers.get("access-control-allow-origin")).toBe(asks.origin);
  const foreign = await fetch(`${door.http}/rpc`, {
    method: "OPTIONS",
    headers: { ...asks, origin: "https://evil.example" },
  });
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  expect((await post(request("notes.summary"))).headers.get("access-control-allow-origin")).toBeNull();
});

test("what is no HTTP is answered with 400 and ends", async () => {
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(door.port, "127.0.0.1", () => socket.write("\u0001\u0002 nonsense\r\n\r\n"));
    let text = "";
    socket.on("data", (data) => {
      text += String(data);
    });
    socket.on("close", () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1.1 400/);
});
