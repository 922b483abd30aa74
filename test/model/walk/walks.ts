/** Many walks from one seed; the first that fails is made as short as it still fails. */
import fc from "fast-check";
import { STEP_NAMES, type Step, walk } from "./walk.ts";

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...STEP_NAMES),
  a: fc.nat(999),
  b: fc.nat(999),
});

/** @param steps at most so many in a walk */
export async function walks({
  count,
  steps,
}: {
  readonly count: number;
  readonly steps: number;
}): Promise<void> {
  const seed = Number(process.env["NOTESD_WALK_SEED"] ?? 20261130);
  const path = process.env["NOTESD_WALK_PATH"];
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: steps, size: "max" }), walk), {
    numRuns: path === undefined ? count : 1,
    seed,
    ...(path === undefined ? {} : { path }),
    endOnFailure: path !== undefined || process.env["NOTESD_WALK_SHRINK"] === "no",
  });
}
