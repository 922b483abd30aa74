import fc from "fast-check";
import { expect, test } from "vitest";
import { changesLine, isChangesLine } from "../../src/domain/changes-line.ts";

const state = (fields: Record<string, unknown>, tags: string[] = [], body = "") => ({ fields, tags, body });

test("fields, tags and body are told in one line", () => {
  const before = state({ status: "open" }, ["auth"], "a\nb\nc\n");
  const after = state({ status: "resolved" }, ["auth", "fixed"], "a\nx\ny\nc\n");
  expect(changesLine(before, after)).toBe("status: open → resolved; tags +fixed; body +2 −1");
});

test("nothing changed is null", () => {
  expect(changesLine(state({ title: "a" }, ["t"], "x"), state({ title: "a" }, ["t"], "x"))).toBeNull();
});

test("what appears or goes is none on the other side, and the order of tags is told", () => {
  expect(changesLine(state({}), state({ expires_at: "2026-12-01T00:00:00.000Z" }))).toBe(
    "expires_at: none → 2026-12-01T00:00:00.000Z",
  );
  expect(changesLine(state({ doi: "10.1/x" }), state({}))).toBe("doi: 10.1/x → none");
  expect(changesLine(state({}, ["a", "b"]), state({}, ["b", "a"]))).toBe('tags: ["a","b"] → ["b","a"]');
});

test("a key named like a member of every object is only a key", () => {
  expect(changesLine(state({ valueOf: 0 }), state({}))).toBe("valueOf: 0 → none");
});

test("long values and long bodies stay short and quick", () => {
  const line = changesLine(state({ title: "x".repeat(300) }), state({ title: "y".repeat(300) })) ?? "";
  expect(line.length).toBeLessThan(140);
  const noise = (seed: number) => Array.from({ length: 20_000 }, (_, i) => `${(i * seed) % 9973}\n`).join("");
  expect(changesLine(state({}, [], noise(7)), state({}, [], noise(11)))).toBe("body +20000 −20000");
});

test("whatever the values, the line is one line of ours", () => {
  const text = fc.string({ unit: "binary" });
  const any = fc.record({ fields: fc.dictionary(text, fc.jsonValue()), tags: fc.array(text), body: text });
  fc.assert(
    fc.property(any, any, (before, after) => {
      const line = changesLine(before, after);
      if (line === null) return;
      expect(line).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
      expect(isChangesLine(line)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
