/**
 * Which daemons this user runs: one small file each in the user's state folder, written at start and removed
 * at stop. A file alone proves nothing: who answers must prove it, and what a killed daemon left is cleared.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type DaemonFile, proves, readDaemonFile } from "../client/discover.ts";
import { writeDurably } from "../lib/durable-file.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { jsonOrNull } from "../lib/json-text.ts";

type Env = Readonly<Record<string, string | undefined>>;

const Entry = z.object({ root: z.string(), gitDir: z.string() });

export interface RunningDaemon {
  readonly place: GitPlace;
  readonly daemon: DaemonFile;
}

function folder(env: Env): string {
  const home = env["HOME"] ?? homedir();
  return join(env["XDG_STATE_HOME"] ?? join(home, ".local", "state"), "notesd", "daemons");
}

const entryFile = (env: Env, place: GitPlace): string =>
  join(folder(env), `${createHash("sha256").update(place.gitDir).digest("hex").slice(0, 16)}.json`);

/** Say that a daemon runs here. @throws Node errors; the daemon works all the same */
export async function enlist(env: Env, place: GitPlace): Promise<void> {
  await mkdir(folder(env), { recursive: true, mode: 0o700 });
  await writeDurably(entryFile(env, place), `${JSON.stringify(place)}\n`, { mode: 0o600 });
}

export const delist = (env: Env, place: GitPlace): Promise<void> =>
  rm(entryFile(env, place), { force: true });

/** Every daemon that proves itself, by repository. Files of daemons that are gone are removed. */
export async function runningDaemons(env: Env): Promise<RunningDaemon[]> {
  const names = await readdir(folder(env)).catch(() => [] as string[]);
  const found = await Promise.all(
    names
      .filter((name) => name.endsWith(".json"))
      .map(async (name): Promise<RunningDaemon | null> => {
        const file = join(folder(env), name);
        const place = Entry.safeParse(jsonOrNull(await readFile(file, "utf8").catch(() => "")));
        const daemon = place.success ? await readDaemonFile(place.data) : null;
        if (place.success && daemon && (await proves(daemon))) return { place: place.data, daemon };
        // One that is starting has no daemon.json yet and enlists itself only afterwards.
        await rm(file, { force: true });
        return null;
      }),
  );
  return found.filter((one) => one !== null).sort((a, b) => (a.place.root < b.place.root ? -1 : 1));
}
