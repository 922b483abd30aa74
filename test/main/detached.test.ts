import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GitPlace } from "../../src/lib/git-dir.ts";
import { logFile, startDetached } from "../../src/main/detached.ts";
import { takeLock } from "../../src/main/take-lock.ts";
import { type FakeDaemon, fakeDaemon } from "../support/fake-daemon.ts";
import { until } from "../support/wait.ts";

const NONCE = "ef".repeat(32);
let place: GitPlace;
let daemon: FakeDaemon;
beforeEach(async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "notesd-detached-")));
  place = { root, gitDir: join(root, ".git") };
  await mkdir(join(place.gitDir, "notesd"), { recursive: true });
  daemon = await fakeDaemon(NONCE, () => ({ result: {} }));
});
afterEach(async () => {
  await daemon.close();
  await rm(place.root, { recursive: true, force: true });
});

/** A program in place of the daemon: runs `body`, with $FILE and $JSON at hand. */
async function program(body: string): Promise<string[]> {
  const script = join(place.root, "program");
  const file = { host: "127.0.0.1", port: daemon.port, url: daemon.url, started_at: "x", nonce: NONCE };
  const json = JSON.stringify({ pid: 0, ...file, version: "0", protocol: "1" }).replace(
    '"pid":0',
    () => `"pid":'$$'`,
  );
  await writeFile(
    script,
    `#!/bin/sh\nFILE='${place.gitDir}/notesd/daemon.json'\nready() { echo '${json}' > "$FILE"; }\n${body}\n`,
  );
  await chmod(script, 0o755);
  return [script];
}

test("returns when the daemon answers, with what it wrote", async () => {
  const found = await startDetached(place, await program("ready; exec sleep 0.3"), process.env);
  expect(found.port).toBe(daemon.port);
});

test("one that ends says why, with its own exit code", async () => {
  await writeFile(logFile(place), "an older line\n");
  const command = await program("echo 'Port 7000 is taken' >&2; exit 10");
  const failed = startDetached(place, command, process.env);
  await expect(failed).rejects.toMatchObject({
    exit: 10,
    message: expect.stringContaining("Port 7000 is taken"),
  });
  await expect(failed).rejects.not.toThrow(/older line/);
});

test("while an earlier daemon is still stopping, the start is tried again", async () => {
  const lock = await takeLock(place);
  const tries = join(place.root, "tries");
  const command = await program(
    `echo x >> '${tries}'\n[ -e '${place.root}/free' ] || exit 3\nready\nexec sleep 0.3`,
  );
  const started = startDetached(place, command, process.env);
  await until("the first try", async () => (await readFile(tries, "utf8").catch(() => "")) !== "");
  await writeFile(join(place.root, "free"), "");
  lock.release();
  expect((await started).url).toBe(daemon.url);
});
