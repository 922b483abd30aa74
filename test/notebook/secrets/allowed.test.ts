import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AllowedSecrets, allowedSecrets } from "../../../src/notebook/secrets/allowed.ts";

let dir: string;
let allowed: AllowedSecrets;
let now = Date.UTC(2026, 10, 30, 10);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "notesd-allowed-"));
  allowed = allowedSecrets(join(dir, "notesd"), () => (now += 1000));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const print = (n: number) => n.toString(16).padStart(16, "0");

test("what is allowed has its kind, when and who, also for another process, until it is taken away", async () => {
  expect(allowed.has(print(1))).toBe(false);
  allowed.noteRefusal({ kind: "github-token", fingerprint: print(1) }, "create by planner");
  expect(allowed.add(print(1), "Pat <pat@example.com>")).toBe(true);
  expect(allowed.add(print(1), "Pat <pat@example.com>")).toBe(false);
  expect(allowed.add(print(2), "Pat <pat@example.com>")).toBe(true);
  const other = allowedSecrets(join(dir, "notesd"), () => 0);
  expect(other.list()).toEqual([
    {
      fingerprint: print(1),
      kind: "github-token",
      at: expect.stringMatching(/^2026-/),
      note: "Pat <pat@example.com>",
    },
    {
      fingerprint: print(2),
      kind: "unknown",
      at: expect.stringMatching(/^2026-/),
      note: "Pat <pat@example.com>",
    },
  ]);
  expect(await other.remove(print(1))).toBe(true);
  expect(await other.remove(print(1))).toBe(false);
  expect([allowed.has(print(1)), allowed.has(print(2))]).toEqual([false, true]);
  expect(statSync(join(dir, "notesd/allowed")).mode & 0o077).toBe(0);
});

test("a line that a person wrote by hand counts, with or without its end", () => {
  allowed.add(print(1), "Pat");
  appendFileSync(join(dir, "notesd/allowed"), `# ours\r\n${print(2)}\r\nnonsense\n${print(3)}`);
  expect(allowed.has(print(3))).toBe(true);
  allowed.add(print(4), "Pat");
  expect(allowed.list().map(({ fingerprint }) => fingerprint)).toEqual([1, 2, 3, 4].map(print));
});

test("late refusals are told once each, newest last, without what was allowed since, and don't grow for ever", () => {
  for (let i = 0; i < 1_000; i++)
    allowed.noteRefusal({ kind: "npm-token", fingerprint: print(i % 500) }, `note ${i}`);
  allowed.noteRefusal({ kind: "npm-token", fingerprint: print(499) }, "a\nb");
  allowed.add(print(498), "Pat");
  const refused = allowed.refused();
  expect(refused.at(-1)).toMatchObject({ fingerprint: print(499), note: "a b" });
  expect(new Set(refused.map(({ fingerprint }) => fingerprint)).size).toBe(refused.length);
  expect(refused.some(({ fingerprint }) => fingerprint === print(498))).toBe(false);
  expect(readFileSync(join(dir, "notesd/refused"), "utf8").split("\n").length).toBeLessThan(402);
});
