/** The reply is lost after the commit and the daemon dies there: the write that is sent again is the first one. */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commitsOf } from "../support/chains/steps.ts";
import { git, initRepo, openRpc, removeFolder } from "../support/daemon.ts";
import { loseReplies, roundName } from "../support/lost-replies.ts";

let repo: string | null = null;
afterEach(() => {
  if (repo !== null) removeFolder(join(repo, ".."));
});

test("7 rounds, one for each kind of write: one commit each, and the answer says that it is a repeat", async () => {
  repo = initRepo();
  const { rounds, daemon } = await loseReplies(repo, 7);
  for (const { method, answer, commit } of rounds) {
    if (method === "notes.run") expect(answer).toMatch(/^note_/);
    else expect(answer).toMatchObject({ replayed: true, commit });
  }
  expect([...commitsOf(repo)]).toEqual(rounds.map((_, number) => [roundName(6 - number), 1]));
  const rpc = await openRpc(daemon.url, daemon.token);
  expect((await rpc.call("notes.list")).total).toBe(2);
  expect(git(repo, "status", "--porcelain")).toBe("");
  rpc.close();
  await daemon.stop();
}, 60_000);
