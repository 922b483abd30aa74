/** kill -9 while hundreds of writes are under way: what was acknowledged is there, once, and nothing of ours is left. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, initRepo, openRpc, type RunningDaemon, removeFolder, startDaemon } from "../support/daemon.ts";
import { randomFrom } from "../support/random.ts";
import { until } from "../support/wait.ts";

const ROUNDS = 20;
const WRITES = 500;
const SOCKETS = 16;

let repo: string;
beforeAll(() => {
  repo = initRepo();
});
afterAll(() => removeFolder(join(repo, "..")));

interface Acknowledged {
  readonly key: string;
  readonly noteId: string;
  readonly commit: string;
}

/** 500 creates over 16 sockets, the daemon killed when `killAfter` of them were answered. */
async function writeAndKill(
  daemon: RunningDaemon,
  round: number,
  killAfter: number,
): Promise<Acknowledged[]> {
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => openRpc(daemon.url, daemon.token)));
  const acknowledged: Acknowledged[] = [];
  let next = 0;
  let killed: Promise<void> | null = null;
  const writer = async (rpc: (typeof sockets)[number]) => {
    while (next < WRITES && !killed) {
      const key = `round-${round}-write-${next++}`;
      const params = { title: key, content: `Text of ${key}.`, idempotency_key: key };
      // A reply that never comes is the point of this test: the write may or may not be there.
      const result = await rpc.call("notes.create", params).catch(() => null);
      if (!result) continue;
      acknowledged.push({ key, noteId: result.note_id, commit: result.commit });
      if (acknowledged.length >= killAfter) killed ??= daemon.kill();
    }
  };
  await Promise.all(sockets.map(writer));
  await (killed ?? daemon.kill());
  for (const rpc of sockets) rpc.close();
  return acknowledged;
}

function leftovers(): string[] {
  return [".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock"].filter((path) =>
    existsSync(join(repo, path)),
  );
}

test("every acknowledged write survives kill -9, none is there twice, and the repository is clean", async () => {
  const random = randomFrom(20261130);
  const all: Acknowledged[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const daemon = await startDaemon(repo);
    all.push(...(await writeAndKill(daemon, round, 1 + Math.floor(random() * (WRITES - SOCKETS)))));
  }
  const daemon = await startDaemon(repo);
  const rpc = await openRpc(daemon.url, daemon.token);
  await until("the work tree to be level with the branch", () => git(repo, "status", "--porcelain") === "");
  expect(leftovers()).toEqual([]);

  const commits = new Set(git(repo, "rev-list", "HEAD").split("\n"));
  expect(all.filter(({ commit }) => !commits.has(commit))).toEqual([]);
  const titles = git(repo, "log", "--format=%s").split("\n");
  const twice = titles.filter((title, i) => title.startsWith("create(") && titles.indexOf(title) !== i);
  expect(twice).toEqual([]);

  // A client that lost its reply sends the request again: it finds the first one's note.
  for (const { key, noteId } of all.filter((_, i) => i % 97 === 0)) {
    const again = await rpc.call("notes.create", {
      title: key,
      content: `Text of ${key}.`,
      idempotency_key: key,
    });
    expect(again).toMatchObject({ note_id: noteId, replayed: true });
  }
  expect((await rpc.call("daemon.verify")).problems).toEqual([]);
  expect(git(repo, "fsck", "--strict", "--no-dangling")).toBe("");
  rpc.close();
  expect(await daemon.stop()).toBe(0);
  expect(git(repo, "status", "--porcelain")).toBe("");
  console.log(`${ROUNDS} kills, ${all.length} acknowledged writes, 0 lost, 0 twice`);
});
