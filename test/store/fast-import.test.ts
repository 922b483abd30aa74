import { expect, test } from "vitest";
import { describeHistory, writeTwice } from "../support/import-history.ts";

test("300 commits of the store and of git fast-import are the same ids", async () => {
  const { ours, native } = await writeTwice(20261130, 300);
  const found = describeHistory(ours);
  expect(found).toEqual(describeHistory(native));
  expect(found.commits).toBe("300");
  expect(ours.git("status", "--porcelain")).toBe("");
});
