/** A repository whose history holds a value in many places, a daemon that can be started on it, and a search for the value. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { type GitPlace, gitPlaceAt } from "../../src/lib/git-dir.ts";
import { createLog } from "../../src/lib/log.ts";
import { type RunningDaemon, startDaemon } from "../../src/main/daemon.ts";
import { init } from "../../src/main/init.ts";
import type { Settings } from "../../src/main/settings.ts";

/** Of no form that is refused, and put together, so that no file of the tests holds it whole. */
export const SECRET = ["LEAK", "Q3EGRIJL5T7MVX2B"].join("");

export interface PurgeRepo {
  readonly top: string;
  readonly place: GitPlace;
  readonly env: Record<string, string>;
  git(...args: string[]): string;
  gitBytes(args: readonly string[], input?: string): Buffer;
  save(path: string, text: string): Promise<void>;
  start(settings?: Settings): Promise<RunningDaemon>;
}

const made: { readonly top: string; readonly running: RunningDaemon[] }[] = [];
afterEach(async () => {
  for (const { top, running } of made.splice(0)) {
    await Promise.all(running.map((daemon) => daemon.stop()));
    await rm(top, { recursive: true, force: true });
  }
});

export async function purgeRepo(): Promise<PurgeRepo> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "notesd-purge-")));
  const running: RunningDaemon[] = [];
  made.push({ top, running });
  const env = {
    HOME: top,
    PATH: process.env["PATH"] ?? "",
    XDG_STATE_HOME: join(top, "state"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  await writeFile(join(top, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n");
  const root = join(top, "notes");
  await init({ dir: root, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
  const place = await gitPlaceAt(root);
  if (place === null) throw new Error("init made no repository");
  const gitBytes = (args: readonly string[], input = "") =>
    execFileSync("git", ["-C", root, ...args], { env, input, maxBuffer: 1 << 28, stdio: "pipe" });
  return {
    top,
    place,
    env,
    gitBytes,
    git: (...args) => gitBytes(args).toString("utf8").trim(),
    async save(path, text) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    async start(settings = {}) {
      const daemon = await startDaemon(
        { place, settings: { branch: "main", port: 0, ...settings } },
        { env, log: createLog({ write: () => {} }), clock: systemClock },
      );
      running.push(daemon);
      return daemon;
    },
  };
}

/** Where a value is found: in objects, inflated; in other files, as they lie. None is what a purge is for. */
export function whereIs(root: string, value: string): string[] {
  const gitdir = join(root, ".git");
  const all = execFileSync("git", ["-C", root, "cat-file", "--batch-all-objects", "--batch", "--unordered"], {
    maxBuffer: 1 << 30,
  });
  const found = all.includes(value) ? ["an object"] : [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path.includes(value)) found.push(path);
    if (!entry.isFile() || path.startsWith(join(gitdir, "objects"))) continue;
    if (readFileSync(path).includes(value)) found.push(path);
  }
  return found;
}
