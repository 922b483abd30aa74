/** Clients that write the same few notes while the daemon is killed: each note's revisions form one chain. */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { runChains } from "../support/chains/clients.ts";
import { commitsOf, stepsOf } from "../support/chains/steps.ts";
import { violations } from "../support/chains/violations.ts";
import { git, initRepo, removeFolder } from "../support/daemon.ts";

let repo: string | null = null;
afterEach(() => {
  if (repo !== null) removeFolder(join(repo, ".."));
});

test("8 clients on 4 notes with kills: no write is lost, doubled, or made on a state that was gone", async () => {
  repo = initRepo();
  const run = await runChains({ repo, clients: 8, notes: 4, operations: 300, killEvery: 100, seed: 11 });
  expect(run.kills).toBe(2);
  expect(run.operations).toHaveLength(300);
  expect(violations(run.operations, stepsOf(repo))).toEqual([]);
  expect([...commitsOf(repo)].filter(([, times]) => times > 1)).toEqual([]);
  expect(git(repo, "status", "--porcelain")).toBe("");
}, 60_000);
