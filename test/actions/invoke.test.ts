import { expect, test } from "vitest";
import { canonicalHash } from "../../src/lib/canonical-json.ts";
import { ada, caller, reader } from "../support/call.ts";
import { FakeNotebook } from "../support/fake-notebook.ts";

test("an unknown method is refused with the nearest name, also where Object has one", async () => {
  const { fails } = caller();
  expect(await fails("notes.creat")).toMatchObject({
    code: "METHOD_NOT_FOUND",
    data: { did_you_mean: "notes.create" },
  });
  for (const method of ["constructor", "__proto__", "toString", ""]) {
    expect((await fails(method)).code).toBe("METHOD_NOT_FOUND");
  }
});

test("an unknown parameter is refused by name, with the nearest one", async () => {
  const notebook = new FakeNotebook();
  const error = await caller(notebook).fails("notes.create", {
    title: "t",
    content: "c",
    note_typ: "action",
  });
  expect(error.code).toBe("INVALID_PARAMS");
  expect(error.data["issues"]).toEqual([
    { path: "note_typ", message: "is not a parameter of notes.create; did you mean note_type?" },
  ]);
  expect(error.data["did_you_mean"]).toBe("note_type");
  expect(error.message).toBe(
    "notes.create: note_typ is not a parameter of notes.create; did you mean note_type?",
  );
  expect(notebook.requests).toEqual([]);
});

test.each([
  [{ content: "" }, "title", /required/],
  [{ title: "", content: "" }, "title", /empty/],
  [{ title: "  ", content: "" }, "title", /empty/],
  [{ title: "a\nb: c", content: "" }, "title", /one line/],
  [{ title: "a\u2028b", content: "" }, "title", /one line/],
  [{ title: "x".repeat(301), content: "" }, "title", /at most 300/],
  [{ title: 1, content: "" }, "title", /a string, not number 1/],
  [{ title: "t", content: null }, "content", /a string, not null/],
  [{ title: "t", content: "\ud800" }, "content", /surrogate/],
  [{ title: "t", content: "", tags: "auth" }, "tags", /an array/],
  [{ title: "t", content: "", tags: ["ok", ""] }, "tags.1", /empty/],
  [{ title: "t", content: "", tags: Array(65).fill("x") }, "tags", /at most 64/],
  [{ title: "t", content: "", note_type: "bloker" }, "note_type", /blocker/],
  [{ title: "t", content: "", note_type: "constructor" }, "note_type", /not a type/],
  [{ title: "t", content: "", expires_in_hours: 0 }, "expires_in_hours", /above 0/],
  [{ title: "t", content: "", expires_in_hours: -1 }, "expires_in_hours", /above 0/],
  [{ title: "t", content: "", pinned: "yes" }, "pinned", /boolean/],
  [{ title: "t", content: "", reason: "x".repeat(501) }, "reason", /at most 500/],
  [{ title: "t", content: "", idempotency_key: "" }, "idempotency_key", /at least 1/],
  [{ title: "t", content: "", extra: { a: { b: 1 } } }, "extra.a", /./],
  [["t", "c"], "", /by name/],
  ["t", "", /by name/],
])("notes.create %j is refused at %s and nothing is written", async (params, path, message) => {
  const notebook = new FakeNotebook();
  const error = await caller(notebook).fails("notes.create", params);
  expect(error.code).toBe("INVALID_PARAMS");
  expect(error.data["issues"]).toMatchObject([{ path, message: expect.stringMatching(message) }]);
  expect(notebook.requests).toEqual([]);
});

test("what is missing and what stands in a list are named as such", async () => {
  const { fails } = caller();
  expect((await fails("notes.run", {})).message).toMatch(/^notes.run: action is required: "create" or /);
  expect((await fails("notes.history", { action: ["foo"] })).message).toMatch(/not "foo"\.$/);
  expect((await fails("notes.history", { action: "foo" })).message).toMatch(/not "foo"\.$/);
});

test("a key called __proto__ is refused wherever it stands", async () => {
  const { fails } = caller();
  const bad = [
    '{"title":"t","content":"","__proto__":{}}',
    '{"title":"t","content":"","extra":{"__proto__":1}}',
  ];
  for (const params of bad) {
    expect((await fails("notes.create", JSON.parse(params))).code).toBe("INVALID_PARAMS");
  }
});

test("extra.KEY parameters are the members of extra", async () => {
  const notebook = new FakeNotebook();
  const { call, fails } = caller(notebook);
  await call("notes.create", { title: "t", content: "", "extra.doi": "10.1/x", extra: { n: 1 } });
  expect(notebook.requests[0]?.change).toMatchObject({ extra: { doi: "10.1/x", n: 1 } });
  const twice = await fails("notes.create", {
    title: "t",
    content: "",
    "extra.doi": "1",
    extra: { doi: "2" },
  });
  expect(twice.data["issues"]).toMatchObject([{ path: "extra.doi" }]);
});

test("the request's hash covers method and parameters as sent, without the key", async () => {
  const notebook = new FakeNotebook();
  const { call, fails } = caller(notebook);
  const params = { title: "t", content: "c", "extra.doi": "x" };
  const first = await call("notes.create", { ...params, idempotency_key: "k" });
  expect(notebook.requests[0]?.idempotency).toEqual({
    key: "k",
    hash: canonicalHash({ method: "notes.create", params }),
  });
  const again = await call("notes.create", { idempotency_key: "k", ...params });
  expect(again).toEqual({
    note_id: first["note_id"],
    path: first["path"],
    revision: first["revision"],
    commit: first["commit"],
    replayed: true,
  });
  expect((await fails("notes.create", { ...params, title: "u", idempotency_key: "k" })).code).toBe(
    "IDEMPOTENCY_MISMATCH",
  );
});

test("a write without a key has no hash, and its reason is handed on", async () => {
  const notebook = new FakeNotebook();
  await caller(notebook).call("notes.create", { title: "t", content: "c", reason: "why" });
  expect(notebook.requests[0]).toMatchObject({ idempotency: null, reason: "why" });
});

test("a read-only token reads and doesn't write", async () => {
  const notebook = new FakeNotebook();
  const { note_id } = await caller(notebook, ada).call("notes.create", { title: "t", content: "c" });
  const { call, fails } = caller(notebook, reader);
  expect(await call("notes.read", { note_id })).toMatchObject({ content: "c" });
  expect((await fails("notes.create", { title: "t", content: "c" })).code).toBe("FORBIDDEN");
  expect(notebook.requests).toHaveLength(1);
});

test("the notebook hears of every caller", async () => {
  const notebook = new FakeNotebook();
  await caller(notebook, ada).call("notes.create", { title: "t", content: "c" });
  expect(notebook.seenCallers.at(-1)?.principal).toEqual(ada);
});
