/**
 * The argument tables of notes.save, notes.recall, notes.search and notes.delete over memory, each row as an agent, as
 * one whose token is marked mcp, and as a person; and feedback.*, on a whole notebook over a store in memory.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NotesError } from "../../../src/domain/errors.ts";
import { agentIdOf, memoryId } from "../../../src/domain/identity.ts";
import type { Agent, Principal } from "../../../src/domain/principal.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { ada, caller } from "../../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
let nowMs = Date.UTC(2026, 10, 30, 10, 15);
beforeEach(async () => {
  opened = await openTestNotebook({ clock: { now: () => nowMs, after: systemClock.after } });
});
afterEach(() => opened.dispose());

const agentNamed = (name: string): Agent => ({
  ...{ kind: "agent", name, agentId: agentIdOf(name) },
  ...{ readOnly: false, mcp: false },
});
const planner = agentNamed("planner");
const coder = agentNamed("coder");
const WHO = { agent: planner, mcp: { ...planner, mcp: true }, person: ada } as const;
type Who = keyof typeof WHO;
const as = (principal: Principal) => caller(opened.notebook, principal);

/** What a call ended in: "done", INVALID_PARAMS by the parameter that it names, or the error's code. */
async function ends(principal: Principal, method: string, params: object): Promise<string> {
  try {
    await as(principal).call(method, params);
    return "done";
  } catch (error) {
    if (!(error instanceof NotesError)) throw error;
    const [issue] = (error.data["issues"] ?? []) as { path: string }[];
    return error.code === "INVALID_PARAMS" ? `invalid ${issue?.path}` : error.code;
  }
}
const keysOf = (result: Record<string, unknown>): unknown[] =>
  ((result["notes"] ?? result["results"]) as { key: string }[]).map(({ key }) => key).sort();

const ID = agentIdOf("planner");
const OWN = { target_agent_id: "planner" };
/** Parameters beside key and value, and what an agent's and a person's save end in. */
type Given = Readonly<Record<string, unknown>>;
const SAVES: readonly [label: string, given: Given, byAgent: string, byPerson?: string][] = [
  ["workspace", { scope: "workspace" }, "done"],
  ["workspace, any target", { scope: "workspace", target_agent_id: "coder" }, "done"],
  ["workspace, a target that is none", { scope: "workspace", target_agent_id: "057" }, "done"],
  ["workspace with a ref", { scope: "workspace", scope_ref_id: "T-1" }, "invalid scope_ref_id"],
  ["agent", { scope: "agent" }, "done", "invalid target_agent_id"],
  ["agent, own by name", { scope: "agent", ...OWN }, "done"],
  ["agent, own by another spelling", { scope: "agent", target_agent_id: "ＰＬＡＮＮＥＲ" }, "done"],
  ["agent, own by number", { scope: "agent", target_agent_id: ID }, "done"],
  ["agent, own by number as text", { scope: "agent", target_agent_id: String(ID) }, "done"],
  ["agent, another's", { scope: "agent", target_agent_id: "coder" }, "FORBIDDEN", "done"],
  [
    "agent, a number nobody has",
    { scope: "agent", target_agent_id: 12345 },
    "FORBIDDEN",
    "invalid target_agent_id",
  ],
  ["agent, all", { scope: "agent", target_agent_id: "all" }, "invalid target_agent_id"],
  ["agent, 057", { scope: "agent", target_agent_id: "057" }, "invalid target_agent_id"],
  ["agent, blank before", { scope: "agent", target_agent_id: " 57" }, "invalid target_agent_id"],
  ["agent, -1", { scope: "agent", target_agent_id: "-1" }, "invalid target_agent_id"],
  ["agent with a ref", { scope: "agent", ...OWN, scope_ref_id: "x" }, "invalid scope_ref_id"],
  ["global is agent", { scope: "global", ...OWN }, "done"],
  ["global as agent asks for a target", { scope: "global" }, "done", "invalid target_agent_id"],
  ["thread", { scope: "thread", scope_ref_id: "T-1", ...OWN }, "done"],
  ["thread without a target", { scope: "thread", scope_ref_id: "T-1" }, "done", "invalid target_agent_id"],
  ["thread without a ref", { scope: "thread", ...OWN }, "invalid scope_ref_id"],
  [
    "thread, another's",
    { scope: "thread", scope_ref_id: "T-1", target_agent_id: "coder" },
    "FORBIDDEN",
    "done",
  ],
  ["person", { scope: "person", scope_ref_id: "pat@example.org", ...OWN }, "done"],
  ["person without a target", { scope: "person", scope_ref_id: "p" }, "done", "invalid target_agent_id"],
  ["person without a ref", { scope: "person", ...OWN }, "invalid scope_ref_id"],
  [
    "person, ref too long",
    { scope: "person", ...OWN, scope_ref_id: "r".repeat(513) },
    "invalid scope_ref_id",
  ],
  ["person, ref of two lines", { scope: "person", ...OWN, scope_ref_id: "a\nb" }, "invalid scope_ref_id"],
  ["no scope", {}, "invalid scope"],
  ["no such scope", { scope: "everyone" }, "invalid scope"],
  ["no key", { scope: "workspace", key: undefined }, "invalid key"],
  ["empty key", { scope: "workspace", key: "" }, "invalid key"],
  ["key of two lines", { scope: "workspace", key: "a\nb" }, "invalid key"],
  ["key with a control character", { scope: "workspace", key: "a\u0007" }, "invalid key"],
  ["key too long", { scope: "workspace", key: "k".repeat(513) }, "invalid key"],
  ["reserved key", { scope: "workspace", key: "__x" }, "invalid key"],
  ["a rule's key", { scope: "workspace", key: "__feedback__x" }, "invalid key"],
  ["key that is a number", { scope: "workspace", key: 5 }, "invalid key"],
  ["odd keys", { scope: "workspace", key: "../.git/CON..." }, "done"],
  ["300 Chinese characters", { scope: "workspace", key: "记".repeat(300) }, "done"],
  ["no value", { scope: "workspace", value: undefined }, "invalid value"],
  ["value that is a number", { scope: "workspace", value: 5 }, "invalid value"],
  ["value null", { scope: "workspace", value: null }, "invalid value"],
  ["empty value", { scope: "workspace", value: "" }, "done"],
  ["value too large", { scope: "workspace", value: "v".repeat(300_000) }, "TOO_LARGE"],
  ["pinned", { scope: "workspace", pinned: true }, "done"],
  ["pinned by a word", { scope: "workspace", pinned: "yes" }, "invalid pinned"],
  ["half an hour", { scope: "workspace", expires_in_hours: 0.5 }, "done"],
  ["null hours", { scope: "workspace", expires_in_hours: null }, "done"],
  ["no hours", { scope: "workspace", expires_in_hours: 0 }, "invalid expires_in_hours"],
  ["hours ago", { scope: "workspace", expires_in_hours: -1 }, "invalid expires_in_hours"],
  ["hours as text", { scope: "workspace", expires_in_hours: "5" }, "invalid expires_in_hours"],
  ["a parameter that is none", { scope: "workspace", tags: ["a"] }, "invalid tags"],
  ["a reason that is too long", { scope: "workspace", reason: "r".repeat(501) }, "invalid reason"],
  ["an empty idempotency key", { scope: "workspace", idempotency_key: "" }, "invalid idempotency_key"],
];

describe.each(Object.keys(WHO) as Who[])("notes.save as %s", (who) => {
  test.each(SAVES)("%s: %j", async (_label, given, byAgent, byPerson = byAgent) => {
    // Somebody's number is known by what they did.
    await as(planner).call("notes.save", { key: "first", value: "x", scope: "agent" });
    const tip = await opened.store.tip();
    const params = { key: "color", value: "blue", ...given };
    const wanted = who === "person" ? byPerson : byAgent;
    expect(await ends(WHO[who], "notes.save", params)).toBe(wanted);
    if (wanted !== "done") expect(await opened.store.tip()).toBe(tip);
  });
});

test.each(Object.keys(WHO) as Who[])(
  "a save answers what it made, and what it changed, as %s",
  async (who) => {
    const { call } = as(WHO[who]);
    const params = { key: "color", value: "blue", scope: "global", target_agent_id: "planner" };
    const note_id = memoryId({ scope: "agent", ref: null, agent: "planner", key: "color" });
    const first = await call("notes.save", params);
    expect(first).toEqual({
      ...{ note_id, key: "color", scope: "agent", created: true },
      ...{ revision: expect.stringMatching(/^[0-9a-f]{40}$/), commit: await opened.store.tip() },
    });
    expect(await call("notes.save", params)).toEqual({ ...first, created: false });
    const second = await call("notes.save", { ...params, value: "red", pinned: true, expires_in_hours: 1 });
    expect(second).toMatchObject({ note_id, created: false });
    expect(second["revision"]).not.toBe(first["revision"]);
    const [row] = (await call("notes.recall"))["notes"] as Record<string, unknown>[];
    expect(row).toEqual({
      ...{ note_id, key: "color", value: "red", scope: "agent", scope_ref_id: null, pinned: true },
      ...{ expires_at: expect.stringMatching(/Z$/), agent_id: ID, agent_name: "planner" },
      ...{ trust: who === "person" ? "person" : "agent", updated_at: expect.stringMatching(/Z$/) },
    });
    // Omitted: it stays, and is not pinned.
    await call("notes.save", { ...params, value: "red" });
    expect((await call("notes.recall"))["notes"]).toMatchObject([{ pinned: false, expires_at: null }]);
    const { entries } = (await call("notes.history", { note_id })) as { entries: { action: string }[] };
    expect(entries.map(({ action }) => action)).toEqual(["save", "save", "save"]);
    const keyed = { ...params, value: "green", idempotency_key: "once" };
    const done = await call("notes.save", keyed);
    expect(await call("notes.save", keyed)).toEqual({
      ...{ note_id, path: "memory/agents/planner/color.md", revision: done["revision"] },
      ...{ commit: done["commit"], replayed: true },
    });
  },
);

/** Memory of two agents, a typed note and a rule, all with the word zebra. */
async function filled(): Promise<void> {
  const value = "zebra";
  const mine = as(planner).call;
  await mine("notes.save", { key: "own", value, scope: "agent" });
  await mine("notes.save", { key: "in thread", value, scope: "thread", scope_ref_id: "T-1" });
  await mine("notes.save", { key: "of pat", value, scope: "person", scope_ref_id: "pat" });
  await mine("notes.save", { key: "shared", value, scope: "workspace" });
  await mine("feedback.save", { key: "rule", rule: "no zebra", scope: "agent" });
  await as(coder).call("notes.save", { key: "theirs", value, scope: "agent" });
  await as(coder).call("notes.save", {
    key: "theirs in thread",
    value,
    scope: "thread",
    scope_ref_id: "T-1",
  });
  await as(coder).call("notes.create", { title: "typed", content: value });
}
const MINE = ["in thread", "of pat", "own", "shared"];
const THEIRS = ["theirs", "theirs in thread"];
const EVERY = [...MINE, ...THEIRS];

/** What is seen as an agent, and as a person where that differs. An error is a text. */
const SEEN: readonly [given: Given, byAgent: readonly string[] | string, byPerson?: readonly string[]][] = [
  [{}, MINE, EVERY],
  [{ scope: "agent" }, ["own"], ["own", "theirs"]],
  [{ scope: "global" }, ["own"], ["own", "theirs"]],
  [{ scope: "workspace" }, ["shared"]],
  [{ scope: "thread" }, ["in thread"], ["in thread", "theirs in thread"]],
  [{ scope: "thread", scope_ref_id: "T-1" }, ["in thread"], ["in thread", "theirs in thread"]],
  [{ scope_ref_id: "T-1" }, ["in thread"], ["in thread", "theirs in thread"]],
  [{ scope_ref_id: "pat" }, ["of pat"]],
  [{ scope_ref_id: "nobody" }, []],
  [{ scope: "everyone" }, "invalid scope"],
  [{ scope_ref_id: "" }, "invalid scope_ref_id"],
  [{ filter_agent_id: "planner" }, MINE],
  [{ filter_agent_id: ID }, MINE],
  [{ filter_agent_id: String(ID) }, MINE],
  [{ filter_agent_id: "coder" }, THEIRS],
  [{ filter_agent_id: "Coder" }, THEIRS],
  [{ filter_agent_id: "all" }, EVERY],
  [{ filter_agent_id: "*" }, EVERY],
  [{ filter_agent_id: "nobody" }, []],
  [{ filter_agent_id: 12345 }, []],
  [{ filter_agent_id: "057" }, "invalid filter_agent_id"],
  [{ filter_agent_id: " 57" }, "invalid filter_agent_id"],
  [{ filter_agent_id: "-1" }, "invalid filter_agent_id"],
  [{ filter_agent_id: -1 }, "invalid filter_agent_id"],
  [{ filter_agent_id: "" }, "invalid filter_agent_id"],
  [{ filter_agent_id: "coder", scope: "agent" }, ["theirs"]],
  [{ limit: 1000 }, MINE, EVERY],
  [{ limit: 0 }, "invalid limit"],
  [{ limit: -1 }, "invalid limit"],
  [{ limit: 1.5 }, "invalid limit"],
  [{ limit: "5" }, "invalid limit"],
  [{ tag: "x" }, "invalid tag"],
];

describe.each(Object.keys(WHO) as Who[])("as %s", (who) => {
  test("notes.recall and notes.search show what each filter says", async () => {
    await filled();
    const { call } = as(WHO[who]);
    for (const [params, byAgent, byPerson = byAgent] of SEEN) {
      const wanted = who === "person" ? byPerson : byAgent;
      for (const [method, more] of [
        ["notes.recall", {}],
        ["notes.search", { query: "zebra" }],
      ] as const) {
        const asked = { ...more, ...params };
        const label = `${method} ${JSON.stringify(asked)}`;
        if (typeof wanted === "string") expect(await ends(WHO[who], method, asked), label).toBe(wanted);
        else {
          const found = keysOf(await call(method, asked)).filter((key) => key !== null);
          expect(found, label).toEqual([...wanted].sort());
        }
      }
    }
  });

  test("notes.recall by key", async () => {
    await filled();
    const { call } = as(WHO[who]);
    expect(keysOf(await call("notes.recall", { key: "shared" }))).toEqual(["shared"]);
    expect(keysOf(await call("notes.recall", { key: "nothing" }))).toEqual([]);
    expect(keysOf(await call("notes.recall", { key: "theirs" }))).toEqual(who === "person" ? ["theirs"] : []);
    expect(keysOf(await call("notes.recall", { key: "theirs", filter_agent_id: "coder" }))).toEqual([
      "theirs",
    ]);
    expect(keysOf(await call("notes.recall", { key: "__feedback__rule" }))).toEqual([]);
    expect(await ends(WHO[who], "notes.recall", { key: "" })).toBe("invalid key");
  });

  test("notes.search finds typed notes of everybody's, and a row says what memory it is", async () => {
    await filled();
    const { results } = (await as(WHO[who]).call("notes.search", { query: "zebra" })) as {
      results: Record<string, unknown>[];
    };
    expect(results.filter(({ key }) => key === null)).toMatchObject([{ title: "typed", scope: "workspace" }]);
    expect(results.find(({ key }) => key === "in thread")).toMatchObject({
      ...{ title: "in thread", scope: "thread", content: "zebra", agent_name: "planner", agent_id: ID },
      ...{ trust: "agent", type: "general", status: "open" },
    });
    expect(await ends(WHO[who], "notes.search", {})).toBe("invalid query");
  });

  test("hidden keys are in no recall, search, list or summary", async () => {
    await filled();
    const { call } = as(WHO[who]);
    const { notes } = (await call("notes.list", { filter_agent_id: "all" })) as { notes: { key: string }[] };
    expect(notes.map(({ key }) => key)).not.toContain("__feedback__rule");
    expect(await call("notes.search", { query: "no zebra", mode: "substring" })).toMatchObject({ total: 0 });
    expect((await call("notes.summary"))["total_notes"]).toBe(who === "person" ? 7 : 5);
  });
});

const idOf = (key: string, agent: string | null, ref: string | null = null) =>
  memoryId({ scope: agent === null ? "workspace" : ref === null ? "agent" : "thread", ref, agent, key });
const OWN_ID = idOf("own", "planner");
const THREAD_ID = idOf("in thread", "planner", "T-1");
const SHARED_ID = idOf("shared", null);
const THEIR_ID = idOf("theirs", "coder");

/** What a delete ends in as planner, and as a person where that differs. */
const DELETES: readonly [given: Given, byAgent: string, byPerson?: string][] = [
  [{ note_id: OWN_ID }, "done", "invalid target_agent_id"],
  [{ note_id: OWN_ID, target_agent_id: "planner" }, "done"],
  [{ note_id: OWN_ID, target_agent_id: ID }, "done"],
  [{ note_id: OWN_ID, target_agent_id: "coder" }, "invalid target_agent_id"],
  [{ note_id: OWN_ID, target_agent_id: "all" }, "invalid target_agent_id"],
  [{ note_id: THREAD_ID }, "done", "invalid target_agent_id"],
  [{ note_id: THREAD_ID, target_agent_id: "planner" }, "done"],
  [{ note_id: SHARED_ID }, "done"],
  [{ note_id: SHARED_ID, target_agent_id: "coder" }, "done"],
  [{ note_id: THEIR_ID }, "FORBIDDEN", "invalid target_agent_id"],
  [{ note_id: THEIR_ID, target_agent_id: "coder" }, "FORBIDDEN", "done"],
  [{ note_id: "mem_aaaaaaaaaaaaaaaaaaaa" }, "NOT_FOUND"],
  [{ note_id: OWN_ID, target_agent_id: "planner", if_revision: "0".repeat(40) }, "CONFLICT"],
  [{}, "invalid note_id"],
];

describe.each(Object.keys(WHO) as Who[])("notes.delete as %s", (who) => {
  test.each(DELETES)("%j", async (params, byAgent, byPerson = byAgent) => {
    await filled();
    const wanted = who === "person" ? byPerson : byAgent;
    const tip = await opened.store.tip();
    expect(await ends(WHO[who], "notes.delete", params)).toBe(wanted);
    if (wanted === "done") expect(opened.notebook.metadata(String(params["note_id"]))).toBeNull();
    else expect(await opened.store.tip()).toBe(tip);
  });
});

test("workspace memory is deleted by who made it or a person, and by no other agent", async () => {
  await filled();
  expect(await ends(coder, "notes.delete", { note_id: SHARED_ID })).toBe("FORBIDDEN");
  await as(coder).call("notes.save", { key: "shared", value: "changed", scope: "workspace" });
  expect(await ends(coder, "notes.delete", { note_id: SHARED_ID })).toBe("FORBIDDEN");
  expect(await ends(planner, "notes.delete", { note_id: SHARED_ID })).toBe("done");
});

test("what a person made for an agent is that agent's, who was never made before", async () => {
  const wish = { key: "welcome", value: "hello", scope: "agent", target_agent_id: "newcomer" };
  await as(ada).call("notes.save", wish);
  const { call } = as(agentNamed("newcomer"));
  expect((await call("notes.recall"))["notes"]).toMatchObject([
    { key: "welcome", agent_name: "newcomer", agent_id: agentIdOf("newcomer"), trust: "person" },
  ]);
  const note_id = memoryId({ scope: "agent", ref: null, agent: "newcomer", key: "welcome" });
  expect(await ends(agentNamed("newcomer"), "notes.delete", { note_id })).toBe("done");
});

test("pinned memory comes first, then the newest; a lower limit gives the first of them", async () => {
  const { call } = as(planner);
  for (const [key, pinned] of [
    ["a", false],
    ["b", true],
    ["c", false],
    ["d", true],
  ] as const) {
    await call("notes.save", { key, value: key, scope: "agent", pinned });
    nowMs += 1_000;
  }
  const keys = async (params: object) =>
    ((await call("notes.recall", params))["notes"] as { key: string }[]).map(({ key }) => key);
  expect(await keys({})).toEqual(["d", "b", "c", "a"]);
  expect(await keys({ limit: 3 })).toEqual(["d", "b", "c"]);
});

test("an answer stays under a million bytes: long values are cut and say so", async () => {
  const { call } = as(planner);
  const value = "\u0001é".repeat(60_000);
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => call("notes.save", { key: `k${n}`, value, scope: "workspace" })),
  );
  const result = await call("notes.recall", { limit: 50 });
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(1_000_000);
  const rows = result["notes"] as { value: string; truncated?: true }[];
  expect(rows).toHaveLength(12);
  for (const row of rows) {
    expect(row.truncated).toBe(true);
    expect(value.startsWith(row.value)).toBe(true);
  }
});

describe("feedback", () => {
  test("a rule is kept apart from facts: saved, listed with why and how, replaced, deleted", async () => {
    const { call, fails } = as(planner);
    const rule = { key: "tone", rule: "Be short.", scope: "agent", why: "asked for", how_to_apply: "always" };
    const first = await call("feedback.save", rule);
    expect(first).toMatchObject({ key: "tone", scope: "agent", created: true });
    const listed = async (params = {}) => (await call("feedback.list", params))["rules"];
    expect(await listed()).toEqual([
      {
        ...{
          note_id: first["note_id"],
          key: "tone",
          rule: "Be short.",
          why: "asked for",
          how_to_apply: "always",
        },
        ...{ scope: "agent", scope_ref_id: null, agent_id: ID, agent_name: "planner", trust: "agent" },
        updated_at: expect.any(String),
      },
    ]);
    expect(await call("feedback.save", { ...rule, why: undefined, rule: "Be brief." })).toMatchObject({
      created: false,
    });
    expect(await listed({ key: "tone" })).toMatchObject([
      { rule: "Be brief.", why: null, how_to_apply: "always" },
    ]);
    // A fact under the same key is another thing.
    await call("notes.save", { key: "tone", value: "warm", scope: "agent" });
    expect(await listed()).toHaveLength(1);
    expect((await call("notes.recall"))["notes"]).toMatchObject([{ key: "tone", value: "warm" }]);
    expect(await call("feedback.delete", { key: "tone", scope: "agent" })).toMatchObject({ key: "tone" });
    expect(await listed()).toEqual([]);
    expect((await fails("feedback.delete", { key: "tone", scope: "agent" })).code).toBe("NOT_FOUND");
  });

  test("rules are seen and written as memory is", async () => {
    const rule = { key: "r", rule: "x" };
    await as(planner).call("feedback.save", { ...rule, scope: "agent" });
    await as(coder).call("feedback.save", { ...rule, scope: "workspace" });
    const count = async (principal: Principal, params = {}) =>
      ((await as(principal).call("feedback.list", params))["rules"] as unknown[]).length;
    expect([await count(planner), await count(coder), await count(ada)]).toEqual([2, 1, 2]);
    expect(await count(coder, { filter_agent_id: "planner" })).toBe(1);
    expect(await ends(planner, "feedback.list", { filter_agent_id: "057" })).toBe("invalid filter_agent_id");
    expect(await ends(planner, "feedback.list", { limit: 0 })).toBe("invalid limit");
    expect(await ends(planner, "feedback.save", { ...rule, scope: "agent", target_agent_id: "coder" })).toBe(
      "FORBIDDEN",
    );
    expect(await ends(ada, "feedback.save", { ...rule, scope: "agent" })).toBe("invalid target_agent_id");
    expect(await ends(ada, "feedback.delete", { key: "r", scope: "agent" })).toBe("invalid target_agent_id");
    expect(await ends(planner, "feedback.save", { ...rule, key: "__r", scope: "agent" })).toBe("invalid key");
    expect(await ends(planner, "feedback.delete", { key: "r", scope: "workspace" })).toBe("FORBIDDEN");
    expect(await ends(coder, "feedback.delete", { key: "r", scope: "workspace" })).toBe("done");
    expect(await ends(ada, "feedback.delete", { key: "r", scope: "agent", target_agent_id: "planner" })).toBe(
      "done",
    );
  });
});
