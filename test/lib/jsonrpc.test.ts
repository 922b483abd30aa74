import { expect, test } from "vitest";
import { errorReply, parseFrame, resultReply } from "../../src/lib/jsonrpc.ts";

const only = (text: string) => {
  const { members } = parseFrame(text);
  expect(members).toHaveLength(1);
  return members[0];
};
const code = (text: string) => {
  const member = only(text);
  return member?.kind === "invalid" ? member.error.code : member?.kind;
};

test("requests and notifications are told apart by their id", () => {
  expect(only('{"jsonrpc":"2.0","method":"a","id":1}')).toMatchObject({
    kind: "request",
    id: 1,
    method: "a",
  });
  expect(only('{"jsonrpc":"2.0","method":"a","id":null}')).toMatchObject({ kind: "request", id: null });
  expect(only('{"jsonrpc":"2.0","method":"a","params":{"x":1}}')).toMatchObject({
    kind: "notification",
    params: { x: 1 },
  });
  expect(only('{"jsonrpc":"2.0","method":"a","params":null}')).toMatchObject({ params: undefined });
});

test("the examples of the specification get the answers it shows", () => {
  expect(code('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]')).toBe(-32700);
  expect(code('{"jsonrpc": "2.0", "method": 1, "params": "bar"}')).toBe(-32600);
  expect(parseFrame("[]")).toMatchObject({ batch: false, members: [{ kind: "invalid", id: null }] });
  expect(parseFrame("[1,2,3]")).toMatchObject({
    batch: true,
    members: [1, 2, 3].map(() => ({ kind: "invalid", id: null, error: { code: -32600 } })),
  });
  expect(code('[{"jsonrpc":"2.0","method":"sum","id":"1"},{"jsonrpc":"2.0","method"]')).toBe(-32700);
  const mixed = parseFrame(
    '[{"jsonrpc":"2.0","method":"a","id":"1"},{"foo":"boo"},{"jsonrpc":"2.0","method":"n"}]',
  );
  expect(mixed.members.map((member) => member.kind)).toEqual(["request", "invalid", "notification"]);
});

test("an id that can't be echoed exactly is refused, any other comes back as it was", () => {
  const withId = (id: string) => only(`{"jsonrpc":"2.0","method":"a","id":${id}}`);
  for (const id of [
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "1e400",
    "{}",
    "[1]",
    "true",
  ]) {
    expect(withId(id)).toMatchObject({ kind: "invalid", id: null, error: { code: -32600 } });
  }
  for (const id of [
    "0",
    "-1",
    "9007199254740991",
    '"9007199254740993"',
    '""',
    '"\\ud800"',
    "1.5",
    '"日本"',
  ]) {
    const member = withId(id);
    expect(member?.kind).toBe("request");
    const echoed = resultReply(member?.kind === "request" ? member.id : null, {});
    expect(echoed).toContain(`"id":${id},`);
  }
  expect(withId(JSON.stringify("x".repeat(257)))).toMatchObject({ kind: "invalid", id: null });
});

test("depth and breadth are answered, not obeyed", () => {
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  expect(parseFrame(deep)).toMatchObject({
    batch: true,
    members: [{ kind: "invalid", error: { code: -32600 } }],
  });
  expect(code("[".repeat(1_000_000))).toBe(-32700);
  expect(code(`{"jsonrpc":"2.0","method":"a","id":1,"params":${deep}}`)).toBe(-32600);
  const nested = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  expect(code(`{"jsonrpc":"2.0","method":"a","id":1,"params":${nested}}`)).toBe(-32600);
  const member = '{"jsonrpc":"2.0","method":"a","id":1}';
  expect(parseFrame(`[${Array(100).fill(member).join()}]`).members).toHaveLength(100);
  expect(parseFrame(`[${Array(101).fill(member).join()}]`)).toMatchObject({
    batch: false,
    members: [{ kind: "invalid", id: null, error: { code: -32600 } }],
  });
});

test("members inherited from Object.prototype count for nothing", () => {
  expect(code('{"jsonrpc":"2.0","__proto__":{"method":"a","id":1}}')).toBe(-32600);
  expect(only('{"jsonrpc":"2.0","method":"constructor","id":1}')).toMatchObject({ method: "constructor" });
});

test("replies are JSON-RPC 2.0", () => {
  expect(JSON.parse(resultReply("a", undefined))).toEqual({ jsonrpc: "2.0", id: "a", result: null });
  expect(JSON.parse(errorReply(null, { code: -32700, message: "m" }))).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "m" },
  });
});
