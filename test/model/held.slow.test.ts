import { expect, test } from "vitest";
import { walkWithSecrets } from "./held.ts";

const SEEDS = Array.from({ length: 6 }, (_, i) => 100 + i);

test.each(SEEDS)("a secret that a person saves gets nowhere, and no line is lost (seed %i)", async (seed) => {
  const done = await walkWithSecrets(seed, 250);
  console.log("STATS", seed, JSON.stringify(done));
  expect(done["a secret"]).toBeGreaterThan(10);
});
