import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unifiedDiff } from "../../src/domain/unified-diff.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "notesd-diff-"));
  execFileSync("git", ["init", "-q", folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What native Git makes of a text with a diff. */
function applied(path: string, text: string, patch: string, to = path): string {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  execFileSync("git", ["-C", folder, "apply", "--unidiff-zero", "--whitespace=nowarn", "-"], {
    input: patch,
  });
  const after = readFileSync(join(folder, to), "utf8");
  rmSync(join(folder, to), { force: true });
  return after;
}

test("git apply makes the one text of the other, whatever the line ends", () => {
  const line = fc.constantFrom(
    "a",
    "b",
    "",
    "long line",
    "\\ No newline",
    "--- x",
    "@@ -1 +1 @@",
    "é",
    "c\r",
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
    .map(([lines, ended]) => lines.join("\n") + (ended && lines.length > 0 ? "\n" : ""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after && before !== "" && after !== "");
      const patch = unifiedDiff({ path: "notes/a.md", text: before }, { path: "notes/a.md", text: after });
      expect(applied("notes/a.md", before, patch)).toBe(after);
    }),
    { numRuns: 60 },
  );
});

test("a rename with a change, and paths that must be quoted, are taken by git apply", () => {
  for (const [from, to] of [
    ["notes/a.md", "notes/b.md"],
    ["notes/with blank.md", 'notes/"q"\\é.md'],
  ] as const) {
    const patch = unifiedDiff({ path: from, text: "one\ntwo\n" }, { path: to, text: "one\n2\n" });
    expect(applied(from, "one\ntwo\n", patch, to)).toBe("one\n2\n");
  }
});

test("a new file, a removed one, a mere rename and no difference at all", () => {
  const file = { path: "notes/a.md", text: "one\n" };
  expect(unifiedDiff(null, file)).toBe(
    "diff --git a/notes/a.md b/notes/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes/a.md\n@@ -0,0 +1,1 @@\n+one\n",
  );
  expect(unifiedDiff(file, null)).toContain("deleted file mode 100644\n--- a/notes/a.md\n+++ /dev/null\n");
  expect(unifiedDiff(file, { ...file, path: "notes/b.md" })).toBe(
    "diff --git a/notes/a.md b/notes/b.md\nrename from notes/a.md\nrename to notes/b.md\n",
  );
  expect([unifiedDiff(file, file), unifiedDiff(null, null)]).toEqual(["", ""]);
});

test("texts with nothing in common end soon, as every line replaced", () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}\n`).join("");
  const [before, after] = [lines("a"), lines("b")];
  const patch = unifiedDiff({ path: "notes/l.md", text: before }, { path: "notes/l.md", text: after });
  expect(patch).toContain("@@ -1,20000 +1,20000 @@\n-a 0\n");
  expect(applied("notes/l.md", before, patch)).toBe(after);
});
