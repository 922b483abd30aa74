import { expect, test } from "vitest";
import { createRefusalLog } from "../../src/doors/refusal-log.ts";
import { createLog } from "../../src/lib/log.ts";
import { fakeClock } from "../support/fake-clock.ts";

function logged() {
  const clock = fakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ clock, write: (line) => void lines.push(JSON.parse(line)) });
  return { clock, lines, log: createRefusalLog(log, clock) };
}
const refusal = {
  principal: "agent:planner",
  action: "notes.delete",
  code: "FORBIDDEN",
  reason: "not_author",
} as const;

test("a refusal is one line: who, what, the code and a word", () => {
  const { log, lines, clock } = logged();
  log.refused(refusal);
  log.turnedAway({ address: "192.0.2.7", status: 401, reason: "unknown_token" });
  const at = new Date(clock.now()).toISOString();
  expect(lines).toEqual([
    { at, level: "info", message: "refused", ...refusal },
    { at, level: "info", message: "refused", address: "192.0.2.7", status: 401, reason: "unknown_token" },
  ]);
});

test("whoever is refused for ever gets few lines and one that tells how often; others are told as ever", () => {
  const { log, lines, clock } = logged();
  for (let i = 0; i < 5_000; i++) log.refused(refusal);
  for (let i = 0; i < 5_000; i++) log.turnedAway({ address: "192.0.2.7", status: 401, reason: "no_token" });
  expect(lines).toHaveLength(110);
  log.refused({ ...refusal, principal: "agent:coder" });
  expect(lines.at(-1)).toMatchObject({ principal: "agent:coder" });
  clock.advance(60_000);
  expect(lines.slice(-2)).toMatchObject([
    { message: "refused more often than is told", principal: "agent:planner", times: 4_900 },
    { message: "refused more often than is told", address: "192.0.2.7", times: 4_990 },
  ]);
});

test("strangers from everywhere share what is kept of them", () => {
  const { log, lines } = logged();
  for (let i = 0; i < 5_000; i++)
    log.turnedAway({ address: `2001:db8::${i}`, status: 401, reason: "no_token" });
  expect(lines).toHaveLength(1_010);
});
