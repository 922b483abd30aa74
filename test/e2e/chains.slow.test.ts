/** As `chains.test.ts`, at length: the daemon killed every 200 answers. All of it: NOTESD_TEST_OPERATIONS=5000. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runChains } from "../support/chains/clients.ts";
import { commitsOf, stepsOf } from "../support/chains/steps.ts";
import { type Operation, violations } from "../support/chains/violations.ts";
import { git, initRepo, removeFolder } from "../support/daemon.ts";

const OPERATIONS = Number(process.env["NOTESD_TEST_OPERATIONS"] ?? 1_500);
const SEED = Number(process.env["NOTESD_TEST_SEED"] ?? 20261130);
/** Each start of a daemon takes seconds on a busy machine. */
const WITHIN_MS = 1_800_000;

let repo: string;
beforeAll(() => {
  repo = initRepo();
});
afterAll(() => removeFolder(join(repo, "..")));

test(
  `8 clients, ${OPERATIONS} operations on 20 notes with kills: one chain a note, and no stale write`,
  async () => {
    const run = await runChains({
      ...{ repo, clients: 8, notes: 20, operations: OPERATIONS, killEvery: 200, seed: SEED },
    });
    const steps = stepsOf(repo);
    expect(violations(run.operations, steps)).toEqual([]);
    expect([...commitsOf(repo)].filter(([, times]) => times > 1)).toEqual([]);
    expect(git(repo, "fsck", "--strict", "--no-dangling")).toBe("");
    expect(git(repo, "status", "--porcelain")).toBe("");
    const count = (wanted: (one: Operation) => boolean) => run.operations.filter(wanted).length;
    console.log({
      operations: run.operations.length,
      kills: run.kills,
      steps: steps.length,
      acknowledged: count(({ kind, outcome }) => kind === "write" && outcome.kind === "ok"),
      conflicts: count(({ outcome }) => outcome.kind === "refused" && outcome.code === "CONFLICT"),
      unknown: count(({ outcome }) => outcome.kind === "unknown"),
      resent: run.resent,
      replayed: run.replayed,
    });
  },
  WITHIN_MS,
);
