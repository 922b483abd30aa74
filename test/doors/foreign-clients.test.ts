/** Two JSON-RPC clients that nobody here wrote, over both doors. */
import { JSONRPCClient, type JSONRPCResponse } from "json-rpc-2.0";
import { Client } from "rpc-websockets";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDoor, type TestDoor } from "../support/door.ts";
import { until } from "../support/wait.ts";

let door: TestDoor;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

const AUTH = { authorization: "Bearer planner-token" };

test("rpc-websockets calls, notifies, sees errors and hears notifications", async () => {
  const client = new Client(door.url, { headers: AUTH, reconnect: false });
  await new Promise<void>((resolve) => client.once("open", () => resolve()));
  const created = await client.call("notes.create", { title: "From afar", content: "text" });
  expect(created).toMatchObject({ note_id: expect.stringMatching(/^note_/) });
  await expect(client.call("notes.read", { note_id: "no" })).rejects.toMatchObject({
    code: 404,
    data: { code: "NOT_FOUND" },
  });
  expect(await client.call("notes.summary")).toMatchObject({ total_notes: 1 });
  const heard: unknown[] = [];
  // The client emits a notification under its method's name.
  client.on("notes.changed", (params: unknown) => heard.push(params));
  await client.call("notes.subscribe", {});
  client.notify("notes.create", { title: "Told", content: "" });
  await until("the notification", () => heard.length === 1);
  expect(heard[0]).toMatchObject({ title: "Told" });
  client.close();
});

test("json-rpc-2.0 calls and batches over HTTP", async () => {
  const client: JSONRPCClient = new JSONRPCClient(async (payload: unknown) => {
    const response = await fetch(`${door.http}/rpc`, {
      method: "POST",
      headers: { ...AUTH, "content-type": "application/json" },
      body: JSON.stringify(payload),
    });
    // The door under test: its reply is what the client is to judge.
    if (response.status === 200) client.receive((await response.json()) as JSONRPCResponse);
    else if (response.status !== 204) throw new Error(String(response.status));
  });
  expect(await client.request("notes.create", { title: "Over HTTP", content: "" })).toMatchObject({
    commit: expect.any(String),
  });
  await expect(client.request("notes.list", { limit: 0 })).rejects.toThrow("limit");
  client.notify("notes.create", { title: "Notified", content: "" });
  await until("the notified note", () =>
    [...door.notebook.notes.values()].some((n) => n.metadata.title === "Notified"),
  );
  const replies = await client.requestAdvanced([
    { jsonrpc: "2.0", id: "a", method: "notes.summary" },
    { jsonrpc: "2.0", id: "b", method: "notes.list", params: { limit: 1 } },
  ]);
  expect(replies).toMatchObject([{ id: "a" }, { id: "b", result: { notes: [{}] } }]);
});
