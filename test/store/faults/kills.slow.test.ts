/** The process is killed at calls that change the disk, before them and in the middle of a write. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../support/bundle.ts";
import { copyOf, prepare, repositories, type Template } from "../../support/faults/repository.ts";
import { numbersTo, SEED, sampleOf } from "../../support/faults/sample.ts";
import { SCENARIOS } from "../../support/faults/scenarios.ts";
import { problemsAfter } from "../../support/faults/sound.ts";

const KILLS_OF_A_SAMPLE = 4;
const FIRST_KILLS_OF_A_SAMPLE = 1;
const RECOVERIES_OF_A_SAMPLE = 2;

const repos = repositories();
let folder = "";
let program = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-bundle-"));
  program = await bundle(join(import.meta.dirname, "../../support/faults/fault-child.ts"), folder);
});
afterAll(() => {
  repos.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly answered: string[];
  /** Calls that change the disk, when it lived to count them. */
  readonly calls: number | null;
}

function run(mode: "act" | "open", root: string, name: string, nth: number, torn: boolean): Run {
  const child = spawnSync(process.execPath, [program, mode, root, name, String(nth), torn ? "torn" : ""], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect([child.stderr, child.status === 0 || child.signal === "SIGKILL"]).toEqual(["", true]);
  const calls = /^calls (\d+)$/m.exec(child.stdout)?.[1];
  return {
    answered: child.stdout.split("\n").filter((line) => /^[0-9a-f]{40}$/.test(line)),
    calls: calls === undefined ? null : Number(calls),
  };
}

const kinds = (calls: number) =>
  numbersTo(calls).flatMap((nth) => [false, true].map((torn) => ({ nth, torn })));

async function problems(template: Template, root: string, answered: readonly string[]) {
  const { scenario, base } = template;
  return problemsAfter({ scenario, root, base, answered });
}

describe(`a process that is killed while it works (seed ${SEED})`, () => {
  test.each(SCENARIOS.map((one) => [one.name, one] as const))("%s", async (name, scenario) => {
    const template = await prepare(scenario, repos.folder());
    const whole = copyOf(template, repos.folder());
    const { calls, answered } = run("act", whole, name, 0, false);
    expect(await problems(template, whole, answered)).toEqual([]);
    expect(answered).toHaveLength(scenario.commits);
    const found: object[] = [];
    for (const { nth, torn } of sampleOf(kinds(calls ?? 0), KILLS_OF_A_SAMPLE)) {
      const root = copyOf(template, repos.folder());
      const killed = run("act", root, name, nth, torn);
      const wrong = await problems(template, root, killed.answered).catch((e: unknown) => [String(e)]);
      if (wrong.length > 0) found.push({ nth, torn, wrong });
      else rmSync(root, { recursive: true });
    }
    expect(found).toEqual([]);
  });
});

describe(`a process that is killed while it recovers (seed ${SEED})`, () => {
  test.each(SCENARIOS.map((one) => [one.name, one] as const))("%s", async (name, scenario) => {
    const template = await prepare(scenario, repos.folder());
    const { calls } = run("act", copyOf(template, repos.folder()), name, 0, false);
    const found: object[] = [];
    const firsts = sampleOf(numbersTo(calls ?? 0), FIRST_KILLS_OF_A_SAMPLE, SEED + name.length);
    /** Not a copy of a broken one: what is broken names inodes, and a copy has others. */
    const broken = (first: number) => {
      const root = copyOf(template, repos.folder());
      return { root, answered: run("act", root, name, first, false).answered };
    };
    for (const first of firsts) {
      const counted = run("open", broken(first).root, name, 0, false).calls ?? 0;
      for (const { nth, torn } of sampleOf(kinds(counted), RECOVERIES_OF_A_SAMPLE, SEED + first)) {
        const { root, answered } = broken(first);
        run("open", root, name, nth, torn);
        const wrong = await problems(template, root, answered).catch((e: unknown) => [String(e)]);
        if (wrong.length > 0) found.push({ first, nth, torn, wrong });
        else rmSync(root, { recursive: true });
      }
    }
    expect(found).toEqual([]);
  });
});
