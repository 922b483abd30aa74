import { beforeEach, expect, test } from "vitest";
import { type PaceBesideGit, paceBesideGit } from "../../../src/store/refs/pace-beside-git.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";

let clock: FakeClock;
let active: boolean;
let askedMs: number | null;
let pace: PaceBesideGit;
beforeEach(() => {
  clock = fakeClock(1_000_000);
  active = true;
  askedMs = null;
  const foreign = {
    look() {},
    isActive: () => active,
    get askedMs() {
      return askedMs;
    },
  };
  pace = paceBesideGit({ foreign, clock, besideGitMs: 1_000 });
});

/** How long the next publication waits, ms; what happens meanwhile comes at its time. */
async function waits(meanwhile: Readonly<Record<number, () => void>> = {}): Promise<number> {
  let came = false;
  void pace.turn().then(() => {
    came = true;
  });
  for (let ms = 0; ; ms += 50) {
    meanwhile[ms]?.();
    await new Promise(setImmediate);
    if (came) return ms;
    clock.advance(50);
  }
}
const asks = () => {
  askedMs = clock.now();
};

test("alone nothing waits; beside a person's Git there is one publication a pause", async () => {
  active = false;
  pace.published();
  expect(await waits()).toBe(0);
  active = true;
  expect(await waits()).toBe(1_000);
  expect(await waits()).toBe(0);
});

test("who fetched has a pause and a bit for the push, and nobody waits longer than one and a half", async () => {
  pace.published();
  expect(await waits({ 800: asks })).toBe(1_500);
  pace.published();
  expect(await waits({ 100: asks })).toBe(1_300);
  pace.published();
  expect(await waits({ 500: asks, 1000: asks, 1400: asks })).toBe(1_500);
});
