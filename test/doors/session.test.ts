/** A session over a whole notebook, its wire in the hands of the test. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { registry } from "../../src/actions/registry.ts";
import { Session, type Wire } from "../../src/doors/session.ts";
import { createLog } from "../../src/lib/log.ts";
import { contextOf, planner } from "../support/call.ts";
import { type FakeClock, fakeClock } from "../support/fake-clock.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";
import { until } from "../support/wait.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

/** A wire that takes nothing while `stuck`, and counts each unsent message as 400 kB. */
class TestWire implements Wire {
  readonly sent: Message[] = [];
  readonly closed: number[] = [];
  reading = true;
  stuck = false;
  #unsent: (() => void)[] = [];

  get bufferedBytes(): number {
    return this.#unsent.length * 400_000;
  }

  send(text: string, sent: () => void): void {
    this.sent.push(JSON.parse(text));
    if (this.stuck) this.#unsent.push(sent);
    else queueMicrotask(sent);
  }

  flow(): void {
    this.stuck = false;
    for (let next = this.#unsent.shift(); next; next = this.#unsent.shift()) next();
  }

  pause(): void {
    this.reading = false;
  }

  resume(): void {
    this.reading = true;
  }

  close(code: number): void {
    this.closed.push(code);
  }
}

let opened: TestNotebook;
let wire: TestWire;
let clock: FakeClock;
let session: Session;
beforeEach(async () => {
  opened = await openTestNotebook();
  wire = new TestWire();
  clock = fakeClock();
  const log = createLog({ write: () => {} });
  session = new Session(wire, planner, () => true, { ...contextOf(opened.notebook), registry, log, clock });
});
afterEach(async () => {
  session.end();
  await opened.dispose();
});

let ids = 0;
function send(method: string, params: object = {}): number {
  session.receive(JSON.stringify({ jsonrpc: "2.0", id: ++ids, method, params }));
  return ids;
}
const reply = (id: number) =>
  until(`the reply to ${id}`, () => wire.sent.find((message) => message.id === id));
const told = () => wire.sent.filter((message) => message.method === "notes.changed");
const lagged = () => wire.sent.filter((message) => message.method === "notes.lagged");

/** Notes by someone else, each one change for a subscriber. */
async function write(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    await opened.notebook.write(
      {
        change: {
          kind: "create",
          title: `t${n}`,
          content: "",
          noteType: "general",
          tags: [],
          extra: {},
          pinned: false,
          expiresInHours: null,
          folder: null,
        },
        reason: null,
        idempotency: null,
      },
      { principal: planner, session: null, task: null },
    );
  }
}

test("a slow subscriber holds a few events, is told once that it lagged, and then gets every one", async () => {
  await reply(send("notes.subscribe"));
  wire.stuck = true;
  await write(0, 50);
  await until("the lag to be told", () => lagged().length === 1);
  expect(told().length).toBeLessThan(5);
  expect(wire.reading).toBe(false);
  const { cursor } = lagged()[0]?.params ?? {};
  expect(cursor).toBe(told().at(-1)?.params?.["cursor"]);
  wire.flow();
  await until("every change", () => told().length === 50);
  expect(told().map((message) => message.params?.["title"])).toEqual(
    Array.from({ length: 50 }, (_, n) => `t${n}`),
  );
  expect(lagged()).toHaveLength(1);
  expect(wire.reading).toBe(true);
});

test("requests of a slow client wait, and are answered when it reads again", async () => {
  wire.stuck = true;
  const first = Array.from({ length: 4 }, () => send("notes.summary"));
  await reply(first[3] ?? 0);
  const later = send("notes.create", { title: "later", content: "" });
  await write(0, 1);
  expect(wire.sent.some((message) => message.id === later)).toBe(false);
  expect(opened.notebook.summary({ kind: "person" }).total_notes).toBe(1);
  wire.flow();
  expect((await reply(later)).result).toMatchObject({ note_id: expect.any(String) });
});

test("a client that takes nothing for a minute is closed with 1013", async () => {
  wire.stuck = true;
  const four = Array.from({ length: 4 }, () => send("notes.summary"));
  await reply(four[3] ?? 0);
  clock.advance(59_000);
  expect(wire.closed).toEqual([]);
  clock.advance(2000);
  expect(wire.closed).toEqual([1013]);
});

test("a client that pours in requests is not read until they are answered", async () => {
  const ids = Array.from({ length: 300 }, () => send("notes.list"));
  expect(wire.reading).toBe(false);
  await reply(ids.at(-1) ?? 0);
  await until("reading to go on", () => wire.reading);
});

test("after its end a session sends nothing and leaves no subscription", async () => {
  await reply(send("notes.subscribe"));
  session.end();
  const before = wire.sent.length;
  await write(0, 3);
  send("notes.summary");
  await new Promise((resolve) => setImmediate(resolve));
  expect(wire.sent).toHaveLength(before);
});

test("a connection has a bounded number of subscriptions", async () => {
  const all = Array.from({ length: 65 }, () => send("notes.subscribe"));
  const last = await reply(all.at(-1) ?? 0);
  expect(last).toMatchObject({ error: { code: 429 } });
});
