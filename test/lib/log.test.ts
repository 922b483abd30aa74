import { expect, test } from "vitest";
import { createLog, errorFields } from "../../src/lib/log.ts";

test("an entry is one JSON line, and entries below the level are dropped", () => {
  const lines: string[] = [];
  const clock = { now: () => 0, after: () => () => {} };
  const log = createLog({ level: "warn", clock, write: (line) => lines.push(line) });
  log.info("started");
  log.error("failed\nbadly", { ref: "a1", ...errorFields(new RangeError("deep")) });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith("\n")).toBe(true);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    level: "error",
    message: "failed\nbadly",
    ref: "a1",
    error: expect.stringContaining("RangeError: deep"),
  });
});
