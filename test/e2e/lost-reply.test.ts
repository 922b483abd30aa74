/** The reply is lost after the commit and the daemon dies there: the write that is sent again is the first one. */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commitsOf } from "../support/chains/steps.ts";
import { git, initRepo, removeFolder } from "../support/daemon.ts";
import { loseReplies, roundName } from "../support/lost-replies.ts";

let repo: string | null = null;
afterEach(() => {
  if (repo !== null) removeFolder(join(repo, ".."));
});

test("5 rounds, each another kind of write: one commit each, and the answer says that it is a repeat", async () => {
  repo = initRepo();
  const { rounds, daemon } = await loseReplies(repo, 5);
  for (const { answer, commit } of rounds) expect(answer).toMatchObject({ replayed: true, commit });
  expect([...commitsOf(repo)]).toEqual(rounds.map((_, number) => [roundName(4 - number), 1]));
  // The last of them deleted the note that the first made.
  expect(git(repo, "ls-files", "notes")).toBe("");
  expect(git(repo, "status", "--porcelain")).toBe("");
  await daemon.stop();
}, 60_000);
