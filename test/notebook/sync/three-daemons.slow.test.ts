import { test } from "vitest";
import { converge } from "./three-daemons.ts";

/** Of each run; 30 is the full size, which takes minutes. */
const ROUNDS = Number(process.env["NOTESD_SYNC_ROUNDS"] ?? 10);

test.each([11, 12, 13])(
  "five notebooks and many rounds, seed %i: equal at the end, nothing lost",
  async (seed) => {
    await converge({ rounds: ROUNDS, daemons: 5, seed });
  },
  600_000,
);
