import fc from "fast-check";
import { expect, test } from "vitest";
import { isFileName, memoryName, parseMemoryPath } from "../../../src/domain/memory-tool/memory-path.ts";
import { MemoryRefusal } from "../../../src/domain/memory-tool/refusal.ts";
import { escapeSegment } from "../../../src/domain/note-path.ts";

const refusal = (given: string): string => {
  try {
    parseMemoryPath(given);
  } catch (error) {
    if (error instanceof MemoryRefusal) return error.message;
    throw error;
  }
  throw new Error(`${given} passed`);
};

test("a path is its key with /memories/ before it", () => {
  expect(parseMemoryPath("/memories/notes.txt")).toEqual({
    key: "notes.txt",
    isDirectory: false,
    text: "/memories/notes.txt",
  });
  expect(parseMemoryPath("/memories/customers/ana b/.plan-1.md").key).toBe("customers/ana b/.plan-1.md");
  expect(parseMemoryPath("/memories/计划/笔记 1.md").key).toBe("计划/笔记 1.md");
});

test("/memories and /memories/ are the directory itself", () => {
  for (const given of ["/memories", "/memories/"]) {
    expect(parseMemoryPath(given)).toEqual({ key: "", isDirectory: true, text: "/memories" });
  }
});

test("a slash at the end names a directory, and replies leave it out", () => {
  expect(parseMemoryPath("/memories/a/b/")).toEqual({
    key: "a/b",
    isDirectory: true,
    text: "/memories/a/b",
  });
});

test("a key is NFC, and the reply keeps what was written", () => {
  const path = parseMemoryPath("/memories/cafe\u0301.md");
  expect(path.key).toBe("caf\u00e9.md");
  expect(path.text).toBe("/memories/cafe\u0301.md");
});

test.each([
  "/etc/passwd",
  "memories/a",
  "/memoriesX",
  "/memoriesX/a",
  "/memories.md",
  "/Memories/a",
  "\\memories\\a",
  "//memories/a",
  "",
  " /memories",
  "file:///memories/a",
])("%j does not start with /memories", (given) => {
  expect(refusal(given)).toBe(`Error: Path must start with /memories, got: ${given}`);
});

test.each([
  "/memories/../x",
  "/memories/..",
  "/memories/../",
  "/memories/../../../etc/passwd",
  "/memories/a/../../x",
  "/memories/a/..",
  "/memories/..\\x",
  "/memories/a\\..\\..\\x",
  "/memories/%2e%2e%2fx",
  "/memories/%2E%2E/x",
  "/memories/..%2fx",
  "/memories/%2e./x",
  "/memories/..%5cx",
  "/memories/%252e%252e%252fx",
  "/memories/a%00.md",
])("%j would escape", (given) => {
  expect(refusal(given)).toBe(`Error: Path ${given} would escape /memories directory`);
});

test.each([
  ["/memories//a", "holds //"],
  ["/memories//", "holds //"],
  ["/memories/a//b", "holds //"],
  ["/memories/./a", "holds a . segment"],
  ["/memories/a\\b", "holds a backslash"],
  ["/memories/.git/config", "Git keeps for itself"],
  ["/memories/a/.GIT/x", "Git keeps for itself"],
  ["/memories/git~1/x", "Git keeps for itself"],
  ["/memories/.g\u200cit/x", "Git keeps for itself"],
  ["/memories/__feedback__x", "begins with __"],
  ["/memories/a/ /b", "blanks alone"],
  [`/memories/${"x".repeat(513)}`, "at most 512"],
])("%j can be no file", (given, why) => {
  expect(refusal(given)).toMatch(/^Error: Invalid path \/memories\//);
  expect(refusal(given)).toContain(why);
});

test("control characters and line breaks are refused and never sent back", () => {
  for (const bad of ["\0", "\n", "\r", "\t", "\u001b[31m", "\u2028", "\u0085"]) {
    const text = refusal(`/memories/a${bad}b`);
    expect(text).toContain("control character or a line break");
    expect(text).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  }
});

test("a refusal shows the beginning of a very long path", () => {
  const text = refusal(`/etc/${"é".repeat(5000)}`);
  expect(Array.from(text).length).toBeLessThan(400);
  expect(text).toMatch(/…$/);
});

test("a key that is no path is shown by its memory's id, every other by itself", () => {
  const id = "mem_abcdefghijklmnopqrst";
  for (const key of ["../x", "a//b", "/a", "a/", ".", "a\nb", "x%2e%2e%2fy", "a\\b", ".git/x", id]) {
    expect(memoryName(key, id)).toBe(id);
    expect(isFileName(key)).toBe(false);
  }
  for (const key of ["a", "a b", "a/b", ".hidden", "Ä?*:|.md", "50%", "a.lock", "CON", "mem_x"]) {
    expect(memoryName(key, id)).toBe(key);
  }
});

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom("/", ".", "..", "a", "%2e", "\\", ".git", "__", "é", "e\u0301"),
    maxLength: 12,
  }),
);

test("what passes has no way out: its segments are names, and its key is a path again", () => {
  fc.assert(
    fc.property(text, (below) => {
      let parsed: ReturnType<typeof parseMemoryPath>;
      try {
        parsed = parseMemoryPath(`/memories/${below}`);
      } catch (error) {
        expect(error).toBeInstanceOf(MemoryRefusal);
        return;
      }
      const { key } = parsed;
      if (key === "") return;
      for (const segment of key.split("/")) {
        expect(["", ".", "..", ".git"]).not.toContain(segment.toLowerCase());
      }
      expect(key).toBe(key.normalize("NFC"));
      expect(isFileName(key)).toBe(true);
      expect(parseMemoryPath(`/memories/${key}`).key).toBe(key);
      expect(escapeSegment(key)).toMatch(/^[a-z0-9_][a-z0-9._-]{0,119}$/);
    }),
    { numRuns: 500 },
  );
});
