import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  agentIdOf,
  base32,
  fileId,
  foldAgentName,
  memoryId,
  newNoteId,
  parseAgentName,
  parseAgentRef,
  parseNoteId,
  requestKey,
} from "../../src/domain/identity.ts";
import type { RepoPath } from "../../src/domain/note.ts";

const never = () => false;
// A literal that is a path in the repository.
const path = (text: string) => text as RepoPath;

test("base32 is RFC 4648 in lower case", () => {
  const vectors = {
    f: "my",
    fo: "mzxq",
    foo: "mzxw6",
    foob: "mzxw6yq",
    fooba: "mzxw6ytb",
    foobar: "mzxw6ytboi",
  };
  for (const [text, code] of Object.entries(vectors)) expect(base32(Buffer.from(text))).toBe(code);
});

test("a new id carries the second in UTC and six characters", () => {
  const id = newNoteId(Date.UTC(2026, 10, 30, 10, 15, 0, 999), randomBytes, never);
  expect(id).toMatch(/^note_20261130_101500_[a-z2-7]{6}$/);
  expect(parseNoteId(id)).toBe(id);
});

test("ids never repeat: the same second, the same random bytes, a clock set back", () => {
  const given = new Set<string>();
  const zeros = () => new Uint8Array(4);
  for (let i = 0; i < 500; i++) {
    const id = newNoteId(1_000_000, zeros, (candidate) => given.has(candidate));
    expect(given.has(id)).toBe(false);
    given.add(id);
  }
  const ones = () => new Uint8Array(4).fill(255);
  given.clear();
  for (let i = 0; i < 50; i++) given.add(newNoteId(0, ones, (candidate) => given.has(candidate)));
  expect(given.size).toBe(50);
});

test("an id in a file counts only if it matches the pattern", () => {
  for (const good of ["a", "7", "A.b-c_d", "x".repeat(128)]) expect(parseNoteId(good)).toBe(good);
  for (const bad of ["", ".a", "-a", "_a", "../secret", "a b", "a/b", "ä", "x".repeat(129), "a\n"]) {
    expect(parseNoteId(bad)).toBeNull();
  }
});

test("memory ids follow from scope, ref, folded agent and key, whatever the form of the text", () => {
  const id = memoryId({ scope: "agent", ref: null, agent: "Planner", key: "caf\u00e9" });
  expect(id).toMatch(/^mem_[a-z2-7]{20}$/);
  expect(memoryId({ scope: "agent", ref: null, agent: "ＰＬＡＮＮＥＲ", key: "cafe\u0301" })).toBe(id);
  expect(memoryId({ scope: "agent", ref: null, agent: "planner2", key: "caf\u00e9" })).not.toBe(id);
  expect(memoryId({ scope: "workspace", ref: null, agent: "planner", key: "k" })).toBe(
    memoryId({ scope: "workspace", ref: null, agent: null, key: "k" }),
  );
  // Computed with Python's hashlib and base64 from ["thread","t1","planner","k"].
  expect(memoryId({ scope: "thread", ref: "t1", agent: "planner", key: "k" })).toBe(
    "mem_xghqo3q4ihvitnv6qiwt",
  );
});

test("a file without id is named by its path, and by path NUL 2 when that is taken", () => {
  const first = fileId(path("notes/a.md"), never);
  expect(first).toMatch(/^f_[a-z2-7]{16}$/);
  const second = fileId(path("notes/a.md"), (id) => id === first);
  const third = fileId(path("notes/a.md"), (id) => id === first || id === second);
  expect(new Set([first, second, third]).size).toBe(3);
  expect(fileId(path("notes/cafe\u0301.md"), never)).toBe(fileId(path("notes/caf\u00e9.md"), never));
});

test("an agent's number is FNV-1a 32 of the folded name and never 0", () => {
  // FNV-1a 32 of "a" is 0xe40c292c, of "foobar" 0xbf9cf968.
  expect(agentIdOf("a")).toBe(0x640c292c);
  expect(agentIdOf("FooBar")).toBe(0x3f9cf968);
  expect(agentIdOf("Straße")).toBe(agentIdOf("STRASSE"));
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const id = agentIdOf(name);
      expect(Number.isInteger(id) && id >= 1 && id <= 0x7fffffff).toBe(true);
      expect(agentIdOf(foldAgentName(name).normalize("NFKC"))).toBe(agentIdOf(foldAgentName(name)));
    }),
  );
});

test("agent names that could be read as something else are refused", () => {
  expect(parseAgentName(" planner ")).toBe("planner");
  expect(parseAgentName("规划者")).toBe("规划者");
  for (const bad of [
    "",
    "  ",
    "57",
    "５７",
    "all",
    "ALL",
    "*",
    "a\nb",
    "a<b",
    "a>b",
    "a\0",
    "x".repeat(65),
    "a\u2028b",
  ]) {
    expect(() => parseAgentName(bad)).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
  }
});

test("an agent is named by id, name, all or *; almost-numbers are refused", () => {
  expect(parseAgentRef("57")).toBe(57);
  expect(parseAgentRef(57)).toBe(57);
  expect(parseAgentRef("*")).toBe("all");
  expect(parseAgentRef("planner")).toBe(agentIdOf("planner"));
  for (const bad of ["057", " 57", "-1", "0", "57 ", "99999999999", ""]) {
    expect(() => parseAgentRef(bad)).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
  }
});

test("a request's key is keyed by principal and secret", () => {
  const agent = { kind: "agent", name: "Planner", agentId: 1, readOnly: false, mcp: false } as const;
  const key = new Uint8Array(32).fill(7);
  const made = requestKey(key, agent, "k");
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(requestKey(key, { ...agent, name: "planner" }, "k")).toBe(made);
  expect(requestKey(key, { kind: "person", name: "P", email: "agent:planner" }, "k")).not.toBe(made);
  expect(requestKey(new Uint8Array(32), agent, "k")).not.toBe(made);
});
