import fc from "fast-check";
import { expect, test } from "vitest";
import { conflictMarkers } from "../../src/domain/conflict-markers.ts";
import { readFrontMatter } from "../../src/domain/front-matter.ts";
import { blobIdOf } from "../../src/domain/identity.ts";
import { mergeNotes, mergeVirtualBase } from "../../src/domain/merge.ts";

const bytes = (text: string) => Buffer.from(text);
function merge(base: string | null, ours: string, theirs: string) {
  const outcome = mergeNotes(base === null ? null : bytes(base), bytes(ours), bytes(theirs));
  return outcome.kind === "merged" ? Buffer.from(outcome.bytes).toString() : outcome;
}

const BASE = `---
# notes of mine
id: n1
title: "Plan"   # keep
type: action
tags: [a, b]
created_at: 2026-01-02T00:00:00.000Z
updated_at: 2026-01-02T00:00:00.000Z
status: open
---

one

two

three
`;

test("different keys and different lines merge, in our style, with both sides' comments", () => {
  const ours = BASE.replace("status: open", "status: resolved")
    .replace("one", "ONE")
    .replace("# notes of mine", "# notes of ours");
  const theirs = BASE.replace('"Plan"', '"New plan"').replace("three", "THREE");
  expect(merge(BASE, ours, theirs)).toBe(ours.replace('"Plan"', '"New plan"').replace("three", "THREE"));
});

test("tags are sets", () => {
  const ours = BASE.replace("[a, b]", "[b, c]");
  const theirs = BASE.replace("[a, b]", "[a, d, b, c]");
  expect(merge(BASE, ours, theirs)).toContain("tags: [b, c, d]\n");
  const words = BASE.replace("[a, b]", "a, b");
  expect(merge(words, words.replace("a, b", "a, b, c"), words.replace("a, b", "b"))).toContain(
    "tags: b, c\n",
  );
});

test("updated_at is the later and created_at the earlier, whoever has it", () => {
  const at = (created: string, updated: string) =>
    BASE.replace("created_at: 2026-01-02", `created_at: 2026-01-${created}`).replace(
      "updated_at: 2026-01-02",
      `updated_at: 2026-01-${updated}`,
    );
  for (const [ours, theirs] of [
    [at("03", "05"), at("01", "04")],
    [at("01", "04"), at("03", "05")],
  ] as const) {
    const merged = merge(BASE, ours, theirs);
    expect(merged).toContain("created_at: 2026-01-01T");
    expect(merged).toContain("updated_at: 2026-01-05T");
  }
});

test("one key or one line changed on both sides is a conflict that names them, without markers", () => {
  const outcome = merge(
    BASE,
    BASE.replace("open", "resolved").replace("two", "2"),
    BASE.replace("open", "archived").replace("two", "II"),
  );
  expect(outcome).toEqual({
    kind: "conflict",
    keys: ["status"],
    hunks: [{ line: 4, base: "two\n", ours: "2\n", theirs: "II\n" }],
    reason: null,
  });
  expect(
    merge(BASE, BASE.replace('title: "Plan"   # keep\n', ""), BASE.replace("Plan", "New")),
  ).toMatchObject({ keys: ["title"] });
});

test("id, key and scope stay with the older side", () => {
  expect(merge(BASE, BASE.replace("n1", "n2"), BASE.replace("n1", "n3"))).toContain("id: n1\n");
  const made = (id: string, day: string) =>
    `---\nid: ${id}\ncreated_at: 2026-01-${day}T00:00:00.000Z\n---\n\nsame\n`;
  expect(merge(null, made("young", "05"), made("old", "04"))).toBe(made("old", "04"));
  expect(merge(null, made("old", "04"), made("young", "05"))).toBe(made("old", "04"));
});

test("a side that can't be read is a conflict with its reason", () => {
  expect(merge(BASE, BASE.replace("two", "2"), BASE.replace("status: open", "status: [open"))).toMatchObject({
    kind: "conflict",
    reason: expect.stringContaining("YAML"),
  });
  const latin = mergeNotes(bytes("a\n"), bytes("b\n"), Buffer.from("caf\u00e9", "latin1"));
  expect(latin).toMatchObject({ kind: "conflict", reason: expect.stringContaining("UTF-8") });
});

test("front matter that one side added, body that the other changed", () => {
  expect(merge("a\n\nb\n\nc\n", "a\n\nb\n\nC\n", "---\ntype: action\n---\n\na\n\nb\n\nc\n")).toBe(
    "---\ntype: action\n---\n\na\n\nb\n\nC\n",
  );
});

const side = fc.record({
  status: fc.constantFrom("open", "resolved", "archived"),
  tags: fc.subarray(["a", "b", "c", "d"]),
  lines: fc.array(fc.constantFrom("one", "two", "three", "four"), { maxLength: 5 }),
  doi: fc.constantFrom("", "doi: 1\n", "doi: 2\n"),
});
const noteOf = ({
  status,
  tags,
  lines,
  doi,
}: {
  status: string;
  tags: string[];
  lines: string[];
  doi: string;
}) =>
  `---\nid: n\n${doi}tags: [${tags.join(", ")}]\nstatus: ${status}\n---\n\n${lines.map((line) => `${line}\n`).join("")}`;

test("any merge is whole: readable, without markers, each key from a side; and unchanged sides lose", () => {
  fc.assert(
    fc.property(side, side, side, (b, o, t) => {
      const [base, ours, theirs] = [noteOf(b), noteOf(o), noteOf(t)];
      expect(merge(base, ours, base)).toBe(ours);
      expect(merge(base, base, theirs)).toBe(theirs);
      expect(merge(base, ours, ours)).toBe(ours);
      const merged = merge(base, ours, theirs);
      if (typeof merged !== "string") return;
      expect(conflictMarkers(merged)).toBeNull();
      const [read, fromOurs, fromTheirs] = [merged, ours, theirs].map((text) => readFrontMatter(text).data);
      for (const key of ["id", "status", "doi"])
        expect([fromOurs?.get(key), fromTheirs?.get(key)]).toContain(read?.get(key));
      const other = merge(base, theirs, ours);
      expect(typeof other).toBe("string");
    }),
    { numRuns: 500 },
  );
});

test("several bases become one, whatever their number, and the smaller blob id settles what two changed", () => {
  const [a, b] = [BASE.replace("open", "resolved"), BASE.replace("open", "archived").replace("one", "1")].map(
    bytes,
  );
  const merged = mergeVirtualBase([a ?? bytes(""), b ?? bytes("")], bytes(BASE));
  const text = Buffer.from(merged ?? bytes("")).toString();
  expect(text).toContain("\n1\n");
  expect(text).toContain(
    blobIdOf(a ?? bytes("")) < blobIdOf(b ?? bytes("")) ? "status: resolved" : "status: archived",
  );
  expect(mergeVirtualBase([], null)).toBeNull();
  expect(mergeVirtualBase([bytes("x")], null)).toEqual(bytes("x"));
  expect(mergeVirtualBase([bytes("x\n"), bytes("y\n")], null)).toEqual(
    bytes(blobIdOf(bytes("x\n")) < blobIdOf(bytes("y\n")) ? "x\n" : "y\n"),
  );
});

test("a blob id is Git's", () => {
  expect(blobIdOf(bytes("hello\n"))).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
});
