import { expect, test } from "vitest";
import { nearest } from "../../src/lib/nearest.ts";

test.each([
  ["hsot", "host"],
  ["alowed_origins", "allowed_origins"],
  ["reconsile", "reconcile"],
  ["Port", "port"],
  ["allowed_o", "allowed_origins"],
  ["zzz", null],
  ["", null],
])("%s → %s", (word, expected) => {
  expect(nearest(word, ["host", "port", "hosts", "allowed_origins", "reconcile"])).toBe(expected);
});
