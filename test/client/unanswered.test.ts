/** Calls whose answer was lost: sent again with their key, or rejected with what is known of them. */
import { inspect } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect, UnansweredError } from "../../src/client/client.ts";
import type { Answer, FakeDaemon, Sent } from "../support/fake-daemon.ts";
import { type FakeRepository, fakeRepository } from "../support/fake-repository.ts";
import { until } from "../support/wait.ts";

let repository: FakeRepository;
const clients: Client[] = [];
beforeEach(() => {
  repository = fakeRepository();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await repository.dispose();
});

async function open(more: ConnectOptions = {}): Promise<Client> {
  const client = await connect({ repo: repository.root, env: {}, random: () => 0, ...more });
  clients.push(client);
  return client;
}
const failure = async (call: Promise<unknown>): Promise<UnansweredError> => {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof UnansweredError) return error;
  throw new Error(`not an UnansweredError: ${inspect(error)}`);
};
const calls = (daemon: FakeDaemon, method: string) => daemon.sent.filter((sent) => sent.method === method);
const keyOf = (sent: Sent | undefined) => sent?.params["idempotency_key"];
const never = () => new Promise<Answer>(() => {});
const note = { title: "t", content: "c" };
const arrived = (daemon: FakeDaemon, method: string) =>
  until(`${method} to arrive`, () => calls(daemon, method).length > 0);

test("a daemon that comes back on another port is found, and what was under way is sent there in its order", async () => {
  const first = await repository.serve(never);
  const { notes } = await open();
  const [one, two] = [notes.create(note), notes.update({ note_id: "n", status: "resolved" })];
  await arrived(first, "notes.update");
  const second = await repository.serve(({ method }) => ({ result: { method } }));
  await first.close();
  expect(await Promise.all([one, two])).toEqual([{ method: "notes.create" }, { method: "notes.update" }]);
  expect(second.port).not.toBe(first.port);
  expect(second.sent.map(({ method, params }) => [method, params])).toEqual(
    first.sent.map(({ method, params }) => [method, params]),
  );
});

test("a write is given up when its daemon stays away: the outcome is unknown, and the key is told", async () => {
  const daemon = await repository.serve(never);
  const { notes } = await open({ awayMs: 50 });
  const lost = failure(notes.create(note));
  await arrived(daemon, "notes.create");
  await daemon.close();
  const error = await lost;
  const key = keyOf(calls(daemon, "notes.create")[0]);
  expect(error).toMatchObject({ method: "notes.create", outcome: "unknown", idempotencyKey: key });
  expect(error.message).toContain(`send it again with idempotency_key "${String(key)}"`);
  const late = await failure(notes.create({ ...note, idempotency_key: "mine" }));
  expect(late).toMatchObject({ outcome: "not_sent", idempotencyKey: "mine" });
  expect(late.message).toMatch(/never sent, so nothing was done/);
});

test("a request that ends each daemon it reaches is not sent for ever", async () => {
  const daemon = await repository.serve(({ method }) =>
    method === "notes.create" ? "drop" : { result: {} },
  );
  const { notes } = await open({ awayMs: 100 });
  const error = await failure(notes.create(note));
  expect(error.outcome).toBe("unknown");
  expect(new Set(calls(daemon, "notes.create").map(keyOf)).size).toBe(1);
  expect(await notes.list({})).toEqual({});
});

test("what is no read and has no key is sent once and never again", async () => {
  const daemon = await repository.serve(() => "drop");
  const client = await open();
  const error = await failure(client.callAny("sync.run", {}));
  expect(error).toMatchObject({ outcome: "unknown", idempotencyKey: null });
  expect(error.message).toMatch(/may have taken effect: look before/);
  expect(calls(daemon, "sync.run")).toHaveLength(1);
});

test("every write of notes gets a random key, reads and a key of the caller's own stay as they are", async () => {
  const daemon = await repository.serve(() => ({ result: {} }));
  const client = await open();
  const note_id = "n";
  await client.notes.create(note);
  await client.notes.update({ note_id, title: "u" });
  await client.notes.append({ note_id, content: "x" });
  await client.notes.edit({ note_id, old_str: "a", new_str: "b" });
  await client.notes.delete({ note_id });
  await client.notes.restore({ note_id, at: "7d" });
  await client.callAny("notes.run", { action: "create", ...note });
  const keys = daemon.sent.map(keyOf);
  expect(keys.every((key) => /^[0-9a-f-]{36}$/.test(String(key)))).toBe(true);
  expect(new Set(keys).size).toBe(7);
  await client.notes.read({ note_id });
  await client.callAny("notes.run", { action: "read", note_id });
  await client.notes.create({ ...note, idempotency_key: "mine" });
  expect(daemon.sent.slice(7).map(keyOf)).toEqual([undefined, undefined, "mine"]);
});

test("close says of each call what is known of it", async () => {
  const daemon = await repository.serve(never);
  const client = await open();
  const [write, read] = [failure(client.notes.create(note)), failure(client.notes.read({ note_id: "n" }))];
  await arrived(daemon, "notes.read");
  client.close();
  const { message, idempotencyKey } = await write;
  expect(message).toMatch(/the client was closed\. Whether it took effect is unknown/);
  expect(message).toContain(String(idempotencyKey));
  expect((await read).message).toMatch(/may be sent again as it is/);
  const after = await failure(client.notes.create({ ...note, idempotency_key: "k" }));
  expect(after).toMatchObject({ outcome: "not_sent", idempotencyKey: "k" });
});

test("a request too large for one frame is refused here, and costs nobody the connection", async () => {
  const daemon = await repository.serve(() => ({ result: {} }));
  const { notes } = await open();
  const content = "é".repeat(600_000);
  await expect(notes.create({ title: "t", content })).rejects.toMatchObject({
    code: "TOO_LARGE",
    data: { limit: 1_048_576 },
  });
  await notes.list({});
  expect(daemon.sent.map(({ method, connection }) => [method, connection])).toEqual([["notes.list", 1]]);
});

test("revive is asked once for a loss, when a call waits, and its daemon answers the call", async () => {
  const first = await repository.serve(never);
  let starts = 0;
  let second: FakeDaemon | null = null;
  const revive = async () => {
    starts++;
    second = await repository.serve(() => ({ result: { note_id: "n" } }));
  };
  const states: string[] = [];
  const { notes } = await open({ revive, onState: (state) => states.push(state) });
  const created = notes.create(note);
  await arrived(first, "notes.create");
  await first.close();
  expect(await created).toEqual({ note_id: "n" });
  expect(starts).toBe(1);
  await (second as FakeDaemon | null)?.close();
  const times = (state: string) => states.filter((one) => one === state).length;
  await until("the second loss", () => times("connecting") === 3);
  await repository.serve(() => ({ result: {} }));
  await until("the third daemon to be found", () => times("open") === 3);
  // Nobody waited for anything: whoever stopped the second one wanted it stopped.
  expect(starts).toBe(1);
});

test("a daemon that can't be started again ends the client with why", async () => {
  const daemon = await repository.serve(never);
  const { notes } = await open({ revive: () => Promise.reject(new Error("the disk is full.")) });
  const lost = failure(notes.create(note));
  await arrived(daemon, "notes.create");
  await daemon.close();
  const error = await lost;
  expect(error.message).toMatch(
    /the connection ended \(the disk is full\)\. Whether it took effect is unknown/,
  );
  await expect(notes.list({})).rejects.toThrow("the disk is full");
});

test("a subscription that is closed while its daemon is away asks for no daemon", async () => {
  const daemon = await repository.serve(() => ({ result: { subscription_id: "s", cursor: "c" } }));
  const states: string[] = [];
  let starts = 0;
  const revive = async () => {
    starts++;
  };
  const client = await open({ revive, onState: (state) => states.push(state) });
  const subscription = await client.subscribe({}, () => {});
  await daemon.close();
  await until("the loss", () => states.at(-1) === "connecting");
  await subscription.close();
  expect(starts).toBe(0);
});

test("no error of a lost, refused or unreachable connection holds a token", async () => {
  const daemon = await repository.serve(never);
  const errors: unknown[] = [];
  const { notes } = await open({ awayMs: 50 });
  const lost = failure(notes.create(note));
  await arrived(daemon, "notes.create");
  daemon.tokens = new Set();
  errors.push(await open().catch((error: unknown) => error));
  await daemon.close();
  errors.push(await lost, await open().catch((error: unknown) => error));
  const given = { url: daemon.url, token: "persons-token", env: {} };
  errors.push(
    await connect(given).catch((error: unknown) => error),
    await connect({ ...given, agent: "planner" }).catch((error: unknown) => error),
  );
  for (const error of errors) {
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 12, showHidden: true })).not.toContain("persons-token");
  }
});
