import { expect, test } from "vitest";
import { describeHistory, writeTwice } from "../support/import-history.ts";

test.each([1, 2])(
  "5,000 commits of the store and of git fast-import are the same ids (seed %i)",
  async (seed) => {
    const { ours, native } = await writeTwice(seed, 5_000);
    const found = describeHistory(ours);
    expect(found).toEqual(describeHistory(native));
    expect(found.commits).toBe("5000");
    expect(ours.git("status", "--porcelain")).toBe("");
    expect(ours.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0, stderr: "" });
  },
);
