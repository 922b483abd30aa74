import { expect, test } from "vitest";
import { walkWithSecrets } from "./held.ts";

test.each([1, 2])(
  "a secret that a person saves gets nowhere, and no line is lost (seed %i)",
  async (seed) => {
    const done = await walkWithSecrets(seed, 60);
    expect(done["a secret"]).toBeGreaterThan(3);
  },
);
