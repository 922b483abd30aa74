/** As `lost-reply.test.ts`, more rounds; all of it: NOTESD_TEST_ROUNDS=100. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/client/client.ts";
import { commitsOf } from "../support/chains/steps.ts";
import { git, initRepo, openRpc, removeFolder, startDaemon } from "../support/daemon.ts";
import { loseReplies, roundName } from "../support/lost-replies.ts";

const ROUNDS = Number(process.env["NOTESD_TEST_ROUNDS"] ?? 20);
/** Each start of a daemon takes seconds on a busy machine. */
const WITHIN_MS = 1_800_000;

let repo: string;
beforeAll(() => {
  repo = initRepo();
});
afterAll(() => removeFolder(join(repo, "..")));

test(
  `${ROUNDS} times the reply is lost after the commit and the daemon killed there: one write each`,
  async () => {
    const { rounds, daemon } = await loseReplies(repo, ROUNDS);
    const odd = rounds.filter(({ method, answer, commit }) => {
      if (method === "notes.run") return typeof answer !== "string";
      const { replayed, commit: told } = answer as { replayed?: boolean; commit?: string };
      return replayed !== true || told !== commit;
    });
    expect(odd).toEqual([]);
    const counts = commitsOf(repo);
    expect(rounds.map((_, number) => counts.get(roundName(number)))).toEqual(rounds.map(() => 1));
    const rpc = await openRpc(daemon.url, daemon.token);
    const made = rounds.filter(({ method }) => method === "notes.create" || method === "notes.run");
    const gone = rounds.at(-1)?.method === "notes.delete" ? 1 : 0;
    expect(git(repo, "ls-files", "notes", "memory").split("\n")).toHaveLength(made.length - gone + 2);
    expect(await rpc.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
    expect(git(repo, "fsck", "--strict", "--no-dangling")).toBe("");
    console.log({ rounds: ROUNDS, beforeReply: rounds.filter(({ beforeReply }) => beforeReply).length });
    rpc.close();
    await daemon.stop();
  },
  WITHIN_MS,
);

test("200 clients whose daemon is killed under their writes come back at once, and each write is there once", async () => {
  const before = await startDaemon(repo);
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => connect({ repo, env: {}, awayMs: 120_000 })),
  );
  const [{ notes: first }] = clients as [(typeof clients)[number]];
  const { total } = await first.list({ limit: 1 });
  const names = clients.map((_, i) => `crowd-${i}`);
  const written = clients.map(({ notes }, i) => notes.create({ title: names[i] ?? "", content: "x" }));
  await Promise.race(written);
  await before.kill();
  const daemon = await startDaemon(repo);
  const answers = await Promise.all(written);
  expect(new Set(answers.map(({ note_id }) => note_id)).size).toBe(200);
  const listed = await first.list({ limit: 1000, since: "1d" });
  expect(listed.total - total).toBe(200);
  expect(
    listed.notes
      .map(({ title }) => title)
      .filter((title) => names.includes(title))
      .sort(),
  ).toEqual([...names].sort());
  for (const client of clients) client.close();
  await daemon.stop();
});
