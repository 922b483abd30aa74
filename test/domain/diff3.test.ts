import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { diff3 } from "../../src/domain/diff3.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "diff3-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Git's own merge; null where it sees a conflict. */
function byGit(base: string, ours: string, theirs: string): string | null {
  const files = Object.entries({ ours, base, theirs }).map(([name, text]) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  });
  try {
    return execFileSync("git", ["merge-file", "-p", "-q", ...files], { encoding: "utf8" });
  } catch {
    return null;
  }
}

/** A text of different lines, and edits of it. */
const edit = fc.record({
  at: fc.nat(19),
  kind: fc.constantFrom("change", "delete", "insert"),
  word: fc.constantFrom("x", "y", "z"),
});
const edits = fc.array(edit, { maxLength: 4 });
const base = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
function apply(list: { at: number; kind: string; word: string }[]): string {
  const lines: string[][] = base.map((line) => [line]);
  for (const { at, kind, word } of list) {
    if (kind === "insert") lines[at]?.push(`new ${word} ${at}\n`);
    else lines[at] = kind === "delete" ? [] : [`${word} ${at}\n`];
  }
  return lines.flat().join("");
}

test("where Git merges cleanly we give the same text or a conflict, and we merge nothing that Git would not", () => {
  let clean = 0;
  let gaveUp = 0;
  fc.assert(
    fc.property(edits, edits, (a, b) => {
      const [ours, theirs] = [apply(a), apply(b)];
      const merged = diff3(base.join(""), ours, theirs);
      const git = byGit(base.join(""), ours, theirs);
      if (git === null) {
        expect(merged.hunks.length).toBeGreaterThan(0);
      } else if (merged.hunks.length > 0) {
        gaveUp++;
      } else {
        clean++;
        expect(merged.text).toBe(git);
      }
    }),
    { numRuns: 150 },
  );
  expect(clean).toBeGreaterThan(30);
  expect(gaveUp).toBeLessThan(15);
});

test("one side alone, both the same, the last line without an end", () => {
  expect(diff3("a\nb\n", "a\nb\n", "a\nc\n")).toEqual({ text: "a\nc\n", hunks: [] });
  expect(diff3("a\n", "a\nx\n", "a\nx\n")).toEqual({ text: "a\nx\n", hunks: [] });
  expect(diff3("1\n2\n3\n4", "0\n1\n2\n3\n4", "1\n2\n3\n4\n5")).toEqual({
    text: "0\n1\n2\n3\n4\n5",
    hunks: [],
  });
  expect(diff3("", "a", "b")).toEqual({ text: "a", hunks: [{ line: 1, base: "", ours: "a", theirs: "b" }] });
});

test("swapping the sides swaps the hunks, and a preferred side fills them", () => {
  const text = fc
    .array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 8 })
    .map((lines) => lines.join(""));
  fc.assert(
    fc.property(text, text, text, (b, o, t) => {
      const one = diff3(b, o, t, "theirs");
      const other = diff3(b, t, o, "ours");
      expect(one.text).toBe(other.text);
      expect(one.hunks).toEqual(
        other.hunks.map(({ line, base: from, ours, theirs }) => ({
          line,
          base: from,
          ours: theirs,
          theirs: ours,
        })),
      );
    }),
  );
});

test("texts with nothing in common are one conflict, and soon", () => {
  const noise = (seed: number) =>
    Array.from({ length: 10_000 }, (_, i) => (i % 3 === 0 ? "\n" : `${(i * seed) % 9973}\n`)).join("");
  expect(diff3(noise(7), noise(11), noise(13)).hunks).toHaveLength(1);
});
