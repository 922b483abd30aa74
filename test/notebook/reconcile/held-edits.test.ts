import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import { type HeldEdits, matchWords, openHeldEdits } from "../../../src/notebook/reconcile/held-edits.ts";

const A = "notes/a.md" as RepoPath;
const [ONE, TWO, TIP] = ["1", "2", "f"].map((digit) => digit.repeat(40) as BlobId) as [
  BlobId,
  BlobId,
  BlobId,
];
const match = (fingerprint: string, line = 1) => ({ kind: "made", line, fingerprint });

let folder: string;
let file: string;
let allowed: Set<string>;
let nowMs: number;
let told: { message: string; fields: unknown }[];
let books: HeldEdits;
const open = () =>
  openHeldEdits({
    file,
    secrets: { isAllowed: (fingerprint) => allowed.has(fingerprint), noteHeld: () => {} },
    now: () => nowMs,
    warn: (message, fields) => void told.push({ message, fields }),
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "notesd-held-"));
  file = join(folder, "held");
  allowed = new Set();
  nowMs = Date.UTC(2026, 10, 30);
  told = [];
  books = open();
});
afterEach(async () => {
  await books.flush();
  rmSync(folder, { recursive: true, force: true });
});

test("an edit stands while file and branch hold the same, until every match is allowed", () => {
  books.hold({
    path: A,
    blob: ONE,
    was: TIP,
    matches: [match("f1"), match("f2", 7)],
    from: null,
    isName: false,
  });
  expect([books.stands(A, ONE, TIP), books.stands(A, TWO, TIP), books.stands(A, ONE, null)]).toEqual([
    true,
    false,
    false,
  ]);
  allowed.add("f1");
  expect(books.of(A, ONE)).toEqual({ path: A, matches: [match("f2", 7)], since: "2026-11-30T00:00:00.000Z" });
  allowed.add("f2");
  expect([books.of(A, ONE), books.stands(A, ONE, TIP), books.paths()]).toEqual([null, false, [A]]);
});

test("a start knows what was held and since when, and tells of it once for each text", async () => {
  books.hold({ path: A, blob: ONE, was: TIP, matches: [match("f1")], from: null, isName: false });
  await books.flush();
  nowMs += 60_000;
  books = open();
  expect(books.stands(A, ONE, TIP)).toBe(true);
  books.hold({ path: A, blob: ONE, was: null, matches: [match("f1")], from: null, isName: false });
  expect(told).toHaveLength(1);
  books.hold({ path: A, blob: TWO, was: null, matches: [match("f1")], from: null, isName: false });
  expect(told).toHaveLength(2);
  expect(books.of(A, TWO)?.since).toBe("2026-11-30T00:00:00.000Z");
  expect(JSON.stringify(told)).toContain("made in line 1 (fingerprint f1)");
});

test("the file is its owner's alone, holds what is held now, and goes with the last of it", async () => {
  books.hold({ path: A, blob: ONE, was: TIP, matches: [match("f1")], from: null, isName: false });
  await books.flush();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    edits: [{ path: A, matches: [match("f1")] }],
  });
  books.forget(A);
  books.forget(A);
  await books.flush();
  expect(existsSync(file)).toBe(false);
});

test.each(["", "{", '{"format":2}', '{"format":1,"edits":[{"path":"notes/a.md","blob":"x"}]}'])(
  "a file that can't be read (%j) is told of and holds nothing",
  (text) => {
    writeFileSync(file, text);
    books = open();
    expect([books.paths(), told.length]).toEqual([[], 1]);
  },
);

test("a disk that refuses the file keeps nobody from anything", async () => {
  rmSync(folder, { recursive: true });
  books.hold({ path: A, blob: ONE, was: TIP, matches: [match("f1")], from: null, isName: false });
  await books.flush();
  expect(books.stands(A, ONE, TIP)).toBe(true);
  expect(told.map(({ message }) => message)).toEqual([
    "a hand edit holds a secret and is not committed",
    "the list of held edits could not be written",
  ]);
});

test("many matches are told shortly", () => {
  const many = Array.from({ length: 7 }, (_, i) => match(`f${i}`, i + 1));
  expect(matchWords(many)).toMatch(/^made in line 1 \(fingerprint f0\), .* and 2 more$/);
});
