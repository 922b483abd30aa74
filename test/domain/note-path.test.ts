import fc from "fast-check";
import { expect, test } from "vitest";
import type { NoteId, RepoPath } from "../../src/domain/note.ts";
import {
  dayFolder,
  escapeSegment,
  isNotePath,
  mayHoldNotes,
  memoryPath,
  newNotePath,
  parseFolder,
  parseRepoPath,
  repoPath,
} from "../../src/domain/note-path.ts";

const refused = expect.objectContaining({ code: "INVALID_PARAMS" });
const roots = ["notes", "memory"];

test("a path that escapes, or is Git's own to any file system, is refused", () => {
  const bad =
    "|/etc/x|../x|a/../b|a/./b|a//b|a/|.git/hooks/x|a/.git/x|.GIT/x|git~1/x|GIT~2/x|.git./x|.git /x|.git::$INDEX_ALLOCATION/x|.g\u200cit/x|a\\b|a\nb|a\0b|.git:x";
  for (const path of bad.split("|")) {
    expect(repoPath(path), path).toBeNull();
    expect(() => parseRepoPath(path)).toThrow(refused);
  }
  for (const path of [
    "notes/a.md",
    ".github/x.md",
    "notes/git.md",
    "a b/ü.md",
    "x.git/y.md",
    "git~/x.md",
    ".gitignore",
  ]) {
    expect(repoPath(path)).toBe(path);
  }
  expect(repoPath("x".repeat(256))).toBeNull();
  expect(repoPath(`${"abc/".repeat(400)}x`)).toBeNull();
});

test("a caller's path is brought to NFC", () => {
  expect(parseRepoPath("notes/cafe\u0301")).toBe("notes/caf\u00e9");
});

test("notes are Markdown files under the roots, not hidden and no litter of editors", () => {
  for (const path of [
    "notes/a.md",
    "notes/x/y/z.md",
    "memory/workspace/k.md",
    "notes/a (conflicted copy).md",
    "notes/#1.md",
  ]) {
    expect(isNotePath(path, roots)).toBe(true);
  }
  const none =
    "a.md|src/a.md|notesx/a.md|notes/a.txt|notes/a.MD|notes/.trash/a.md|notes/node_modules/p/a.md|notes/.#a.md|notes/._a.md|notes/~$a.md|notes/#a.md#|notes/a.md~|notes/a.md.swp|notes/../a.md|notes";
  for (const path of none.split("|")) expect(isNotePath(path, roots), path).toBe(false);
  expect(isNotePath("a.md", ["."])).toBe(true);
  expect(isNotePath("src/a.md", ["."])).toBe(true);
  expect(isNotePath(".notesd/a.md", ["."])).toBe(false);
  expect(isNotePath(".notes/a.md", [".notes"])).toBe(true);
});

test("folders that hold notes are those under the roots and those that lead to one", () => {
  for (const folder of ["", "notes", "notes/x/y", "memory", "a", "a/b", "a/b/c", ".wiki", ".wiki/x"]) {
    expect(mayHoldNotes(folder, ["notes", "memory", "a/b", ".wiki"]), folder).toBe(true);
  }
  for (const folder of ["src", "notesx", "a/x", "notes/.trash", "notes/node_modules/p", ".git", ".wiki/.x"]) {
    expect(mayHoldNotes(folder, ["notes", "memory", "a/b", ".wiki"]), folder).toBe(false);
  }
  expect(["", "src", "src/deep"].every((folder) => mayHoldNotes(folder, ["."]))).toBe(true);
  expect([".git", "src/.x", "node_modules"].some((folder) => mayHoldNotes(folder, ["."]))).toBe(false);
});

test("the folder of a new note lies inside a root", () => {
  expect(parseFolder("notes/work/", roots)).toBe("notes/work");
  expect(parseFolder("notes", roots)).toBe("notes");
  for (const bad of ["src", "../notes", "notes/.hidden", "notes/node_modules", "/notes", ""]) {
    expect(() => parseFolder(bad, roots)).toThrow(refused);
  }
});

test("no note is made in memory's folder: a folder of a memory file's name would be in that memory's way", () => {
  for (const inside of [
    ...["memory", "memory/", "memory/workspace", "memory/agents", "memory/agents/planner"],
    ...["memory/agents/planner/plan.md", "memory/agents/planner/sub", "memory/workspace/k.md/deep"],
    ...["memory/threads/t/planner/", "memory/plans", "./memory", "memory//agents", "notes/../memory"],
  ]) {
    expect(() => parseFolder(inside, roots), inside).toThrow(refused);
    expect(() => parseFolder(inside, ["."]), inside).toThrow(refused);
  }
  expect(parseFolder("notes/memory", roots)).toBe("notes/memory");
  expect(parseFolder("memory2", ["."])).toBe("memory2");
});

test("a day's folder is full at 128, and only the highest is filled", () => {
  const at = Date.UTC(2026, 10, 30, 23, 59, 59);
  const held = (counts: Record<string, number>) => (folder: string) => counts[folder] ?? 0;
  const day = "notes/2026/11/30";
  expect(dayFolder(at, held({}))).toBe(day);
  expect(dayFolder(at, held({ [day]: 127 }))).toBe(day);
  expect(dayFolder(at, held({ [day]: 128 }))).toBe(`${day}.2`);
  expect(dayFolder(at, held({ [day]: 3, [`${day}.2`]: 5 }))).toBe(`${day}.2`);
  expect(dayFolder(at, held({ [day]: 200, [`${day}.2`]: 128 }))).toBe(`${day}.3`);
});

test("a file's name is the id, with words of the title if so set", () => {
  // Literals of the right form.
  const folder = "notes/x" as RepoPath;
  const id = "note_1" as NoteId;
  expect(newNotePath(folder, id, "Login: Fehler! 500", "id")).toBe("notes/x/note_1.md");
  expect(newNotePath(folder, id, "Login: Fehler! 500", "id-slug")).toBe("notes/x/note_1-login-fehler-500.md");
  expect(newNotePath(folder, id, "???", "id-slug")).toBe("notes/x/note_1.md");
  expect(repoPath(newNotePath(folder, id, "漢".repeat(300), "id-slug"))).not.toBeNull();
});

test("keys, refs and names become safe segments", () => {
  const cases: Record<string, string> = {
    "build.cmd": "build.cmd",
    "a-b.c": "a-b.c",
    "../x": "_2e._2fx",
    ".git/hooks/post-commit": "_2egit_2fhooks_2fpost-commit",
    ".GIT": "_2e_47_49_54",
    "git~1": "git_7e1",
    CON: "_43_4f_4e",
    con: "_63on",
    "con.txt": "_63on.txt",
    console: "console",
    com1: "_63om1",
    "x.lock": "x_2elock",
    "a: b?": "a_3a_20b_3f",
    "dot.": "dot_2e",
    "-x-": "_2dx_2d",
    a_b: "a_5fb",
    é: "_c3_a9",
    "e\u0301": "_c3_a9",
  };
  for (const [text, segment] of Object.entries(cases)) expect(escapeSegment(text)).toBe(segment);
});

test("300 Chinese characters are cut at a whole escape and stay different", () => {
  const segment = escapeSegment("漢".repeat(300));
  expect(segment).toMatch(/^(?:_[0-9a-f]{2}){26}_x[a-z2-7]{20}$/);
  expect(escapeSegment(`${"漢".repeat(300)}x`)).not.toBe(segment);
});

test("any texts give valid, different segments", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom(".", "-", "_", "a", "c", "o", "n", ".lock", "x"),
      minLength: 1,
      maxLength: 140,
    }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      const segment = escapeSegment(a);
      expect(segment).toMatch(/^[a-z0-9_][a-z0-9._-]{0,119}$/);
      expect(repoPath(segment)).toBe(segment);
      expect(segment).not.toMatch(/[.]$|\.lock$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/);
      expect(segment === escapeSegment(b)).toBe(a.normalize("NFC") === b.normalize("NFC"));
    }),
    { numRuns: 1000 },
  );
});

test("a memory's path follows from scope, ref, agent and key", () => {
  const agent = "Planner";
  expect(memoryPath({ scope: "workspace", ref: null, agent, key: "K" })).toBe("memory/workspace/_4b.md");
  expect(memoryPath({ scope: "agent", ref: null, agent, key: "k" })).toBe("memory/agents/planner/k.md");
  expect(memoryPath({ scope: "thread", ref: "T/1", agent, key: "k" })).toBe(
    "memory/threads/_54_2f1/planner/k.md",
  );
  expect(memoryPath({ scope: "person", ref: "p1", agent, key: "k" })).toBe("memory/people/p1/planner/k.md");
});
