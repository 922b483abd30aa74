import { expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { readable } from "../../src/main/serve.ts";

test("a log line at a terminal is words, not JSON", () => {
  const lines: string[] = [];
  const clock = { now: () => Date.parse("2026-11-30T10:15:00Z"), after: () => () => {} };
  createLog({ clock, write: (line) => lines.push(line) }).warn("slow", { after_ms: 5, door: "socket" });
  expect(lines.map(readable)).toEqual(["10:15:00 warn slow after_ms=5 door=socket\n"]);
});

test("a log line at a terminal holds nothing that a terminal obeys", () => {
  const line = `${JSON.stringify({ at: "2026-11-30T10:15:00Z", level: "warn", message: "odd", path: "a\u001b[2J\u009b31m\nb" })}\n`;
  expect(readable(line)).toBe("10:15:00 warn odd path=a b\n");
});
