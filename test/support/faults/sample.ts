/** Which of many faults a run tries: all of them when NOTESD_FAULTS is `all`, else some that a seed chooses. */
import { wholeFrom } from "../random.ts";

export const ALL_FAULTS = process.env["NOTESD_FAULTS"] === "all";
/** Another seed (NOTESD_FAULTS_SEED) tries others; the one that was used is in the test's name. */
export const SEED = Number(process.env["NOTESD_FAULTS_SEED"] ?? 20261130);

/** All of them, or `most` spread by the seed; in order. */
export function sampleOf<T>(all: readonly T[], most: number, seed: number = SEED): T[] {
  if (ALL_FAULTS || all.length <= most) return [...all];
  const whole = wholeFrom(seed);
  const left = all.map((one, place) => ({ one, place }));
  const taken = Array.from({ length: most }, () => left.splice(whole(left.length), 1)).flat();
  return taken.sort((a, b) => a.place - b.place).map(({ one }) => one);
}

export const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);
