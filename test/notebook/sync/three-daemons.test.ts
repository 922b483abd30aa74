import { expect, test } from "vitest";
import { converge } from "./three-daemons.ts";

test("three notebooks on one remote, which goes away and comes back, come to be equal, and no acknowledged line is lost", async () => {
  const { writes, commits } = await converge({ rounds: 5, seed: 7 });
  expect(commits).toBeGreaterThan(20);
  expect(writes).toBeGreaterThan(30);
}, 120_000);
