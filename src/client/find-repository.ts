/**
 * Which repository is meant: the one that is named, else the marked one that holds the current folder, or
 * whose `.notes` folder is one. Client, command line and daemon agree because all of them ask here.
 *
 * @see spec: protocol, section 6 (Which repository)
 */
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ProcessError } from "../domain/process-error.ts";
import { readGitConfig } from "../lib/git-config.ts";
import { type GitPlace, gitPlaceAt, gitPlacesAround } from "../lib/git-dir.ts";

/** A note repository of its own inside a repository that holds other things. */
export const INNER_FOLDER = ".notes";

/** Whether `init` has marked a repository as one of notes. */
export async function isMarked(place: GitPlace): Promise<boolean> {
  return (await readGitConfig(join(place.gitDir, "config"))).get("notesd.marked")?.at(-1) === "true";
}

/**
 * @param named  a folder that someone named (relative to `cwd`), or null
 * @throws ProcessError USAGE  none is marked; the message names the two ways
 */
export async function findRepository(named: string | null, cwd: string): Promise<GitPlace> {
  if (named !== null) {
    const folder = resolve(cwd, named);
    const place = await gitPlaceAt(basename(folder) === ".git" ? dirname(folder) : folder);
    if (place && (await isMarked(place))) return place;
    throw new ProcessError(
      "USAGE",
      `${folder} is no note repository. To make or adopt one there: notesd init ${named}`,
    );
  }
  const found = await markedAround(cwd);
  if (found) return found;
  throw new ProcessError(
    "USAGE",
    `${cwd} is in no note repository. Two ways to name one: --repo DIR (or NOTESD_REPO), or notesd init here.`,
  );
}

/** The marked repository that holds a folder, or null. */
async function markedAround(folder: string): Promise<GitPlace | null> {
  for (const place of await gitPlacesAround(folder)) {
    if (await isMarked(place)) return place;
    const inner = await gitPlaceAt(join(place.root, INNER_FOLDER));
    if (inner && (await isMarked(inner))) return inner;
  }
  return null;
}

/**
 * `repo` of `notes.config.json` in a folder, absolute; null when there is none. A file inside a marked
 * repository names none: whoever can push must not send its readers elsewhere.
 */
export async function repoInConfig(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, "notes.config.json"), "utf8").catch(() => null);
  if (text === null) return null;
  for (const place of await gitPlacesAround(folder)) if (await isMarked(place)) return null;
  try {
    const given: unknown = JSON.parse(text);
    if (typeof given !== "object" || given === null || !("repo" in given)) return null;
    return typeof given.repo === "string" ? resolve(folder, given.repo) : null;
  } catch {
    // Its owner is told what is wrong by the daemon, which reads the whole file.
    return null;
  }
}
