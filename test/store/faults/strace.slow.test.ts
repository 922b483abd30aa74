/**
 * The same from outside: strace kills the process at a system call or has the kernel refuse it, so that nothing
 * here rests on our own tap. Left out where strace is not installed or may not trace, but for CI, which fails then.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../support/bundle.ts";
import { copyOf, prepare, repositories } from "../../support/faults/repository.ts";
import { numbersTo, SEED, sampleOf } from "../../support/faults/sample.ts";
import { scenario } from "../../support/faults/scenarios.ts";
import { problemsAfter } from "../../support/faults/sound.ts";

/** Families of system calls, whatever the machine calls them. */
const CALLS = ["/^rename", "/^link", "/^unlink", "/^f(data)?sync", "/^mkdir"];
/** So many of a family in a row are tried; strace counts for each thread. */
const IN_A_ROW = 12;
const FAULTS = ["signal=KILL", "error=EIO", "error=ENOSPC"];
const OF_A_SAMPLE = 5;

const canTrace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;

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
}, 120_000);

function straced(root: string, name: string, calls: string, fault: string, nth: number): string[] {
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${fault}:when=${nth}`];
  const child = [
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    ...inject,
    process.execPath,
    program,
    "act",
    root,
    name,
    "0",
  ];
  const { stdout, stderr, error } = spawnSync("strace", child, { encoding: "utf8", timeout: 120_000 });
  expect([error, stderr]).toEqual([undefined, ""]);
  return stdout.split("\n").filter((line) => /^[0-9a-f]{40}$/.test(line));
}

test.runIf(process.env["CI"])("where nobody looks at what was left out, strace may trace", () => {
  expect(canTrace).toBe(true);
});

describe.skipIf(!canTrace)(`the kernel kills or refuses (seed ${SEED}), and`, () => {
  test.each([
    "several writes come at once, one of them stale",
    "a conflict is kept, and dropped with the write that resolves it",
  ])("%s", async (name) => {
    const template = await prepare(scenario(name), repos.folder());
    const whole = copyOf(template, repos.folder());
    expect(straced(whole, name, "/^rename", "error=EIO", 10_000)).toHaveLength(template.scenario.commits);
    expect(straced(copyOf(template, repos.folder()), name, "/^link", "signal=KILL", 1)).toEqual([]);
    const all = CALLS.flatMap((calls) =>
      FAULTS.flatMap((fault) => numbersTo(IN_A_ROW).map((nth) => ({ calls, fault, nth }))),
    );
    const found: object[] = [];
    for (const how of sampleOf(all, OF_A_SAMPLE)) {
      const root = copyOf(template, repos.folder());
      const answered = straced(root, name, how.calls, how.fault, how.nth);
      const wrong = await problemsAfter({ ...template, root, answered }).catch((e: unknown) => [String(e)]);
      if (wrong.length > 0) found.push({ ...how, root, wrong });
    }
    expect(found).toEqual([]);
  });
});
