import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../support/bundle.ts";
import { intentsOnDisk } from "../support/intents-on-disk.ts";
import { storeOnGit } from "../support/store-on-git.ts";

const ROUNDS = 20;
/** A child is killed after this many acknowledgements and up to so many milliseconds. */
const MOST_MS = 300;

let folder = "";
let program = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-bundle-"));
  program = await bundle(join(import.meta.dirname, "../support/store-child.ts"), folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("20 kills of a process that commits in a loop lose nothing that was acknowledged", async () => {
  const on = await storeOnGit();
  await on.store.close();
  const { repo } = on;
  const acknowledged = new Set<string>();
  let carriedOut = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [program, "loop", repo.root, "", String(round * 1_000 + 1)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    const first = once(child.stdout, "data");
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await first;
    // A different moment each round; which one doesn't matter, only that they differ.
    const kill = setTimeout(() => child.kill("SIGKILL"), (round * 97) % MOST_MS);
    await once(child, "close");
    clearTimeout(kill);
    for (const line of text.split("\n")) if (/^[0-9a-f]{40}$/.test(line)) acknowledged.add(line);

    const store = await on.reopen();
    carriedOut += store.recovery.carriedOut;
    expect(repo.git("status", "--porcelain")).toBe("");
    const all = readdirSync(repo.gitdir, { recursive: true, encoding: "utf8" });
    expect(all.filter((f) => /\.lock$|\.keep$|objects\/pack\/\.notesd_/.test(f))).toEqual([]);
    // Those of the last moments may wait for their files to be synced.
    expect(intentsOnDisk(repo.gitdir).filter(({ placed }) => !placed)).toEqual([]);
    const reachable = repo.git("rev-list", "HEAD").split("\n");
    expect(new Set(reachable).size).toBe(reachable.length);
    const there = new Set(reachable);
    expect([...acknowledged].filter((id) => !there.has(id))).toEqual([]);
    await store.close();
  }
  expect(repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
  expect(repo.git("reflog", "--format=%H").split("\n")[0]).toBe(repo.git("rev-parse", "HEAD"));
  expect(acknowledged.size).toBeGreaterThan(ROUNDS);
  console.info(`${acknowledged.size} acknowledged, ${carriedOut} publications carried out at a start`);
});
