/** The key that proves commits: taken over from another daemon, and what that does to history. */
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../src/client/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type GitPlace, gitPlaceAt } from "../../src/lib/git-dir.ts";
import { createLog } from "../../src/lib/log.ts";
import { type RunningDaemon, startDaemon } from "../../src/main/daemon.ts";
import { init } from "../../src/main/init.ts";
import { setProofKey } from "../../src/main/proof-key.ts";
import { proofKeyText } from "../../src/main/read-proof-key.ts";
import { git } from "../support/daemon.ts";

let top: string;
let env: Record<string, string>;
const running: RunningDaemon[] = [];
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-key-")));
  env = { HOME: top, PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: join(top, "state") };
  await writeFile(join(top, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n");
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((daemon) => daemon.stop()));
  await rm(top, { recursive: true, force: true });
});

async function made(dir: string): Promise<GitPlace> {
  await init({ dir, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
  const place = await gitPlaceAt(dir);
  if (!place) throw new Error("init made no repository");
  return place;
}
const fileOf = (place: GitPlace) => join(place.gitDir, "notesd/proof.key");
const keyOf = (place: GitPlace) => proofKeyText(fileOf(place));

/** Serve a repository for a while. */
async function served<T>(place: GitPlace, work: (agent: Awaited<ReturnType<typeof connect>>) => Promise<T>) {
  const log = createLog({ write: () => {} });
  const settings = { branch: "main", port: 0 };
  const daemon = await startDaemon({ place, settings }, { env, log, clock: systemClock });
  running.push(daemon);
  const agent = await connect({ agent: "planner", repo: place.root, env: {} });
  try {
    return await work(agent);
  } finally {
    agent.close();
    await daemon.stop();
    running.pop();
  }
}

const trustOf = (place: GitPlace, note_id: string) =>
  served(place, async (agent) => {
    const { metadata } = await agent.notes.read({ note_id });
    return { trust: metadata.trust, agent_name: metadata.agent_name };
  });

test("with the key of the daemon that made them a clone's commits are proved; without it they are text", async () => {
  const first = await made(join(top, "a"));
  const { note_id } = await served(first, (agent) => agent.notes.create({ title: "Kept", content: "text" }));
  git(top, "clone", "-q", first.root, "b");
  const second = await made(join(top, "b"));
  expect(await trustOf(second, note_id)).toEqual({ trust: "pushed", agent_name: null });
  expect(await setProofKey(second, `${await keyOf(first)}\n`, false, Date.now())).toBe(true);
  expect(await trustOf(second, note_id)).toEqual({ trust: "agent", agent_name: "planner" });
  expect((await stat(fileOf(second))).mode & 0o777).toBe(0o600);
  expect(await setProofKey(second, await keyOf(first), false, Date.now())).toBe(false);
});

test("a key that proves history is kept unless one says so, and the one before can be set again", async () => {
  const place = await made(join(top, "a"));
  const { note_id } = await served(place, (agent) => agent.notes.create({ title: "Kept", content: "text" }));
  const before = await keyOf(place);
  const other = "a".repeat(64);
  await expect(setProofKey(place, other, false, Date.now())).rejects.toMatchObject({
    exit: 2,
    message: expect.stringMatching(/proves commits/),
  });
  expect(await keyOf(place)).toBe(before);
  expect(await setProofKey(place, other, true, Date.parse("2026-11-30T10:15:00Z"))).toBe(true);
  expect(await trustOf(place, note_id)).toEqual({ trust: "pushed", agent_name: null });
  const earlier = join(place.gitDir, "notesd/proof.key.earlier");
  expect(await readFile(earlier, "utf8")).toBe(`2026-11-30T10:15:00.000Z ${before}\n`);
  expect((await stat(earlier)).mode & 0o777).toBe(0o600);
  expect(await setProofKey(place, before, true, Date.now())).toBe(true);
  expect(await trustOf(place, note_id)).toEqual({ trust: "agent", agent_name: "planner" });
});

test("a key that was copied by hand counts at the next start: what another one made of history is read anew", async () => {
  const first = await made(join(top, "a"));
  const { note_id } = await served(first, (agent) => agent.notes.create({ title: "Kept", content: "text" }));
  await writeFile(fileOf(first), `${"b".repeat(64)}\n`);
  expect(await trustOf(first, note_id)).toEqual({ trust: "pushed", agent_name: null });
});

test("no key, and a daemon that runs, are refused and nothing changes", async () => {
  const place = await made(join(top, "a"));
  const before = await keyOf(place);
  for (const text of ["", "f".repeat(63), "g".repeat(64), `${"f".repeat(64)}\n${"f".repeat(64)}`])
    await expect(setProofKey(place, text, true, Date.now())).rejects.toMatchObject({ exit: 2 });
  await served(place, async () => {
    await expect(setProofKey(place, "c".repeat(64), true, Date.now())).rejects.toMatchObject({ exit: 3 });
  });
  expect(await keyOf(place)).toBe(before);
});
