import { test } from "vitest";
import { converge } from "./three-daemons.ts";

test.each([11, 12, 13])(
  "five notebooks and many rounds, seed %i: equal at the end, nothing lost",
  async (seed) => {
    await converge({ rounds: 30, daemons: 5, seed });
  },
  600_000,
);
